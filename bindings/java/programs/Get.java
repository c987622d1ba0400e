import java.io.IOException;
import java.nio.charset.StandardCharsets;
import netlib.Attempts;
import netlib.BodyDecoder;
import netlib.HeaderField;
import netlib.Headers;
import netlib.Limit;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.Request;
import netlib.RequestForm;
import netlib.Response;
import netlib.Retry;
import netlib.Status;
import netlib.Stream;
import netlib.TlsContext;

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
            Attempts attempts = new Attempts(Retry.recommended(), "GET", Netlib.parseUrlStrict(arguments[0]), headers, limit);
            Stream[] stream = new Stream[1];
            Response[] response = new Response[1];
            do {
                if (stream[0] != null) stream[0].close(); // of an attempt that is repeated
                attempts.run(() -> {
                    Request request = Request.make(attempts.method(), attempts.url(), attempts.headers(), RequestForm.ORIGIN);
                    stream[0] = Stream.connect(attempts.url(), tls, null, limit).stream();
                    stream[0].write(request.toWire().getBytes(StandardCharsets.UTF_8));
                    response[0] = stream[0].readResponse(attempts.method()).response();
                    return response[0];
                });
            } while (attempts.again());
            try (Stream last = stream[0]) {
                writeBody(last, response[0]);
            }
        } catch (NetlibException failed) {
            System.err.println(failed.error().report());
            System.exit(1);
        }
    }

    private static void writeBody(Stream stream, Response response) {
        BodyDecoder decoder = BodyDecoder.make(response);
        byte[] buffer = new byte[16384];
        Stream.ReadBodyResult read;
        do {
            read = stream.readBody(decoder, buffer);
            System.out.write(buffer, 0, (int) read.n());
        } while (read.status() != Status.END_OF_STREAM);
        if (System.out.checkError()) { // also flushes
            System.err.println("cannot write the body");
            System.exit(1);
        }
    }
}
