package java.lang.foreign;

import java.nio.ByteBuffer;

public interface MemorySegment {
    MemorySegment NULL = null;

    static void copy(
            MemorySegment from, ValueLayout layout, long fromOffset, Object toArray, int toIndex, int count) {}

    static void copy(
            Object fromArray, int fromIndex, MemorySegment to, ValueLayout layout, long toOffset, int count) {}

    long address();

    MemorySegment asSlice(long offset, long size);

    ByteBuffer asByteBuffer();

    MemorySegment reinterpret(long size);

    byte get(ValueLayout.OfByte layout, long offset);

    int get(ValueLayout.OfInt layout, long offset);

    long get(ValueLayout.OfLong layout, long offset);

    double get(ValueLayout.OfDouble layout, long offset);

    void set(ValueLayout.OfInt layout, long offset, int value);

    void set(ValueLayout.OfLong layout, long offset, long value);

    void set(ValueLayout.OfDouble layout, long offset, double value);
}
