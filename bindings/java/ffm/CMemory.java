package netlib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory of C, through java.lang.foreign. */
final class CMemory implements AutoCloseable {
    /** The whole address space: the offset of a byte is its address. */
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final Arena arena = Arena.ofConfined();
    private final long address;

    CMemory(long size) {
        address = arena.allocate(size, Long.BYTES).address();
    }

    long address() {
        return address;
    }

    @Override
    public void close() {
        arena.close();
    }

    /** Returns the length of a text that ends at its NUL. */
    static long textLength(long address) {
        long end = address;
        while (ALL.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return end - address;
    }

    static byte[] getBytes(long address, long count) {
        byte[] bytes = new byte[Math.toIntExact(count)];
        copy(address, bytes);
        return bytes;
    }

    static void copy(long address, byte[] bytes) {
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, bytes.length);
    }

    static int[] getInts(long address, long count) {
        int[] numbers = new int[Math.toIntExact(count)];
        for (int at = 0; at < numbers.length; at++) {
            numbers[at] = getInt(address + (long) at * Integer.BYTES);
        }
        return numbers;
    }

    static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT, address);
    }

    static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG, address);
    }

    static double getDouble(long address) {
        return ALL.get(ValueLayout.JAVA_DOUBLE, address);
    }

    static void putBytes(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    static void putInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT, address, value);
    }

    static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG, address, value);
    }

    static void putDouble(long address, double value) {
        ALL.set(ValueLayout.JAVA_DOUBLE, address, value);
    }

    /** Returns a view of the memory, which is valid as long as the memory. */
    static ByteBuffer buffer(long address, long count) {
        return ALL.asSlice(address, count).asByteBuffer().order(ByteOrder.nativeOrder());
    }
}
