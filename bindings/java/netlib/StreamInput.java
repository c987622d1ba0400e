package netlib;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.Function;

/** Bytes that a stream or a body decoder receives. */
final class StreamInput extends InputStream {
    private final Runnable close;
    private final Function<byte[], Piece> read;
    private boolean isClosed;
    private boolean hasEnded;

    /** The number of bytes in the buffer, and the status of the read. */
    record Piece(long n, Status status) {}

    StreamInput(Runnable close, Function<byte[], Piece> read) {
        this.close = close;
        this.read = read;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, buffer.length);
        if (isClosed) {
            throw new IOException("the input is closed");
        }
        if (length == 0) {
            return 0;
        }
        if (hasEnded) {
            return -1;
        }
        // C fills a whole array.
        boolean isWhole = length == buffer.length;
        byte[] part = isWhole ? buffer : new byte[Math.min(length, 16384)];
        int n = StreamFailure.asIoException(() -> fill(part));
        if (!isWhole && n > 0) {
            System.arraycopy(part, 0, buffer, offset, n);
        }
        return n;
    }

    private int fill(byte[] part) throws IOException {
        Piece piece = read.apply(part);
        hasEnded = piece.status().equals(Status.END_OF_STREAM);
        if (piece.n() > 0) {
            return (int) piece.n();
        }
        if (hasEnded) {
            return -1;
        }
        throw new IOException("no data has arrived on a stream that does not block: " + piece.status());
    }

    @Override
    public void close() {
        isClosed = true;
        close.run();
    }
}
