package netlib;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import javax.net.ssl.SSLException;

/** Makes an IOException, which java.io expects, from the exception of a stream. */
final class StreamFailure {
    private StreamFailure() {}

    interface Transfer {
        int run() throws IOException;
    }

    static int asIoException(Transfer transfer) throws IOException {
        try {
            return transfer.run();
        } catch (NetlibException failed) {
            throw (IOException) exceptionFor(failed).initCause(failed);
        } catch (IllegalStateException closed) {
            throw new IOException(closed.getMessage(), closed);
        }
    }

    private static IOException exceptionFor(NetlibException failed) {
        if (failed.status().equals(Status.INTERRUPTED)) {
            return new InterruptedIOException(failed.getMessage());
        }
        if (failed instanceof NetlibException.Timeout) {
            return new SocketTimeoutException(failed.getMessage());
        }
        if (failed instanceof NetlibException.Tls) {
            return new SSLException(failed.getMessage());
        }
        return new IOException(failed.getMessage());
    }
}
