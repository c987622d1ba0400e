package netlib;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/** Memory of C, through JNA. */
final class CMemory implements AutoCloseable {
    private final long address;

    CMemory(long size) {
        address = com.sun.jna.Native.malloc(size);
        if (address == 0) {
            throw new OutOfMemoryError("malloc of " + size + " bytes");
        }
    }

    long address() {
        return address;
    }

    @Override
    public void close() {
        com.sun.jna.Native.free(address);
    }

    /** Returns the length of a text that ends at its NUL. */
    static long textLength(long address) {
        return new Pointer(address).indexOf(0, (byte) 0);
    }

    static byte[] getBytes(long address, long count) {
        return new Pointer(address).getByteArray(0, Math.toIntExact(count));
    }

    static int[] getInts(long address, long count) {
        return new Pointer(address).getIntArray(0, Math.toIntExact(count));
    }

    static long getLong(long address) {
        return new Pointer(address).getLong(0);
    }

    static void putBytes(long address, byte[] bytes) {
        new Pointer(address).write(0, bytes, 0, bytes.length);
    }

    static void putInt(long address, int value) {
        new Pointer(address).setInt(0, value);
    }

    static void putLong(long address, long value) {
        new Pointer(address).setLong(0, value);
    }

    static void putDouble(long address, double value) {
        new Pointer(address).setDouble(0, value);
    }

    /** Returns a view of the memory, which is valid as long as the memory. */
    static ByteBuffer buffer(long address, long count) {
        return new Pointer(address).getByteBuffer(0, count);
    }
}
