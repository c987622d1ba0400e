package netlib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The arrays of one call, in memory of C. Large arrays have memory of their own. */
final class Frame implements AutoCloseable {
    private static final long STACK_SIZE = 1024;
    private static final ThreadLocal<Stack> STACK = ThreadLocal.withInitial(Stack::new);

    /** The memory for the small arrays of a thread. A call in a callback puts its arrays above those of the outer call. */
    private static final class Stack {
        final MemorySegment memory = Arena.ofAuto().allocate(STACK_SIZE, Long.BYTES);
        long used;
    }

    private final Stack stack = STACK.get();
    private final long usedBefore = stack.used;
    private Arena large;

    private long allocate(long size) {
        long end = stack.used + (size + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
        if (end <= STACK_SIZE) {
            long address = stack.memory.address() + stack.used;
            stack.used = end;
            return address;
        }
        if (large == null) {
            large = Arena.ofConfined();
        }
        return large.allocate(size, Long.BYTES).address();
    }

    /** Returns the address of a copy; 0 for null. */
    long copy(byte[] bytes) {
        if (bytes == null) {
            return 0;
        }
        long address = allocate(bytes.length);
        CMemory.putBytes(address, bytes);
        return address;
    }

    long copy(int[] numbers) {
        if (numbers == null) {
            return 0;
        }
        long address = allocate((long) numbers.length * Integer.BYTES);
        for (int at = 0; at < numbers.length; at++) {
            CMemory.putInt(address + (long) at * Integer.BYTES, numbers[at]);
        }
        return address;
    }

    /** Copies an array of one number. */
    long copy(long[] number) {
        if (number == null) {
            return 0;
        }
        long address = allocate(Long.BYTES);
        CMemory.putLong(address, number[0]);
        return address;
    }

    long copy(double[] number) {
        if (number == null) {
            return 0;
        }
        long address = allocate(Double.BYTES);
        CMemory.putDouble(address, number[0]);
        return address;
    }

    static void copyBack(long address, byte[] bytes) {
        if (address != 0) {
            CMemory.copy(address, bytes);
        }
    }

    static void copyBack(long address, int[] numbers) {
        if (address != 0) {
            numbers[0] = CMemory.getInt(address);
        }
    }

    static void copyBack(long address, long[] number) {
        if (address != 0) {
            number[0] = CMemory.getLong(address);
        }
    }

    static void copyBack(long address, double[] number) {
        if (address != 0) {
            number[0] = CMemory.getDouble(address);
        }
    }

    @Override
    public void close() {
        stack.used = usedBefore;
        if (large != null) {
            large.close();
        }
    }
}
