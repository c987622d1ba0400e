package netlib;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Objects;

/** An output that writes to a stream. */
final class StreamOutput extends OutputStream {
    private final Stream stream;

    StreamOutput(Stream stream) {
        this.stream = stream;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        int from = offset;
        int end = offset + length;
        while (from < end) {
            byte[] part = from == 0 && end == bytes.length ? bytes : Arrays.copyOfRange(bytes, from, end);
            from += StreamFailure.asIoException(() -> written(part));
        }
    }

    private int written(byte[] part) throws IOException {
        Stream.WriteResult result = stream.write(part);
        if (result.n() == 0) {
            throw new IOException("nothing can be written on a stream that does not block: " + result.status());
        }
        return (int) result.n();
    }

    @Override
    public void close() {
        stream.close();
    }
}
