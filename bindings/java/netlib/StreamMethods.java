package netlib;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.LongConsumer;

/** The methods of {@link Stream} that java.io has. */
abstract class StreamMethods extends WaitingHandle {
    StreamMethods(long pointer, Object[] lenders, LongConsumer free) {
        super(pointer, lenders, free);
    }

    private Stream stream() {
        return (Stream) this;
    }

    /**
     * Returns the received bytes. The end of the input is the end of the stream. A read throws an IOException, whose
     * cause is the NetlibException: a {@link java.net.SocketTimeoutException} for a time limit, a
     * {@link java.io.InterruptedIOException} for an interrupt, and an {@link javax.net.ssl.SSLException} for a failure
     * of TLS. On a stream that does not block, a read without data throws an IOException. Closing the input closes the
     * stream.
     *
     * @return the input
     */
    public final InputStream inputStream() {
        Stream stream = stream();
        return new StreamInput(stream::close, buffer -> {
            Stream.ReadResult read = stream.read(buffer);
            return new StreamInput.Piece(read.n(), read.status());
        });
    }

    /**
     * Returns an output that writes to the stream, without a buffer. A write writes all bytes, and fails as a read of
     * {@link #inputStream} does. Closing the output closes the stream.
     *
     * @return the output
     */
    public final OutputStream outputStream() {
        return new StreamOutput(stream());
    }

    /**
     * Returns the decoded body of a response whose head was read from the stream. A read fails as a read of
     * {@link #inputStream} does. Closing the body does not close the stream. After the end of the body, the connection
     * may be used again if {@link Response#keepsAlive} says so.
     *
     * @param response the response
     * @return the body
     */
    public final InputStream bodyInputStream(Response response) {
        Stream stream = stream();
        BodyDecoder decoder = BodyDecoder.make(response);
        return new StreamInput(decoder::close, buffer -> {
            Stream.ReadBodyResult read = stream.readBody(decoder, buffer);
            return new StreamInput.Piece(read.n(), read.status());
        });
    }
}
