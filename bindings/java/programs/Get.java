import java.io.IOException;
import netlib.Attempts;
import netlib.HeaderField;
import netlib.Headers;
import netlib.Limit;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.RequestForm;
import netlib.Response;
import netlib.Retry;
import netlib.Status;
import netlib.Stream;
import netlib.TlsContext;
import netlib.Url;

/** Downloads one URL with the recommended settings, and writes the response's body to standard output. */
public final class Get {
    private Get() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: Get URL");
            System.exit(2);
        }
        try (TlsContext tls = TlsContext.make(null); Limit limit = Limit.make(120, null)) {
            Headers headers = Headers.make(new HeaderField[] {new HeaderField("connection", "close")});
            Url url = Netlib.parseUrlStrict(arguments[0]);
            Attempts attempts = Attempts.make(Retry.recommended(), "GET", url, headers, false, limit);
            Status status;
            do {
                Stream stream = null;
                try {
                    stream = Stream.connect(attempts.url(), tls, null, limit).stream();
                    stream.write(attempts.request(RequestForm.ORIGIN).toWire());
                    Response response = stream.readResponse(attempts.method()).response();
                    status = attempts.next(response, null); // waits before a retry
                    if (status == Status.OK) writeBody(stream, response);
                } catch (NetlibException failed) {
                    status = attempts.next(null, failed.error()); // waits before a retry, or throws the exception
                } finally {
                    if (stream != null) stream.close();
                }
            } while (status == Status.SEND_AGAIN);
        } catch (NetlibException failed) {
            System.err.println(failed.report());
            System.exit(1);
        }
    }

    private static void writeBody(Stream stream, Response response) throws IOException {
        stream.bodyInputStream(response).transferTo(System.out);
        if (System.out.checkError()) { // also flushes
            System.err.println("cannot write the body");
            System.exit(1);
        }
    }
}
