package java.lang.foreign;

public interface Arena extends AutoCloseable {
    static Arena global() {
        return null;
    }

    static Arena ofAuto() {
        return null;
    }

    static Arena ofConfined() {
        return null;
    }

    MemorySegment allocate(long size, long alignment);

    @Override
    void close();
}
