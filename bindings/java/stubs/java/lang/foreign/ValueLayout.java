package java.lang.foreign;

public interface ValueLayout extends MemoryLayout {
    OfByte JAVA_BYTE = null;
    OfInt JAVA_INT = null;
    OfLong JAVA_LONG = null;
    OfDouble JAVA_DOUBLE = null;

    interface OfByte extends ValueLayout {}

    interface OfInt extends ValueLayout {}

    interface OfLong extends ValueLayout {}

    interface OfDouble extends ValueLayout {}
}
