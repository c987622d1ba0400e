import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import netlib.Addresses;
import netlib.Attempts;
import netlib.BodyDecoder;
import netlib.ConnectOptions;
import netlib.ErrorOptions;
import netlib.HeaderField;
import netlib.Headers;
import netlib.Limit;
import netlib.Netlib;
import netlib.NetlibError;
import netlib.NetlibException;
import netlib.Outcome;
import netlib.Progress;
import netlib.Rate;
import netlib.RateOptions;
import netlib.Response;
import netlib.Retry;
import netlib.RetryOptions;
import netlib.Status;
import netlib.Store;
import netlib.Stream;
import netlib.Swap;
import netlib.TlsContext;
import netlib.TlsOptions;
import netlib.Unavailable;
import netlib.Url;
import netlib.Verdict;

/** Tests what the scenario does not reach. Prints each failure, and the number of checks. Argument: tests/certs. */
public final class BindingTest {
    private BindingTest() {}

    public static void main(String[] arguments) {
        Checks.check("absent text is null", null, () -> Netlib.parseUrl("http://a/").query());
        Checks.check("empty text is not absent", "", () -> Netlib.parseUrl("http://a/?").query());
        Checks.check("absent components are passed as NULL, empty ones as empty text", "http://a?",
                () -> Url.make("http", null, "a", -1, null, "", null).toString());
        Checks.check("a text with a NUL is refused by the setter", "IllegalArgumentException: path has a NUL at byte 2",
                () -> TlsOptions.make().addCaFile("ca\0.pem"));
        Checks.check("a closed object is refused", "IllegalStateException: Url is closed", () -> {
            Url url = Netlib.parseUrl("http://a/");
            url.close();
            url.close();
            return url.host();
        });
        Checks.check("a copy lives after the original is closed", "a", () -> {
            Url url = Netlib.parseUrl("http://a/");
            Url copy = url.copy();
            url.close();
            return copy.host();
        });
        Checks.check("bytes that are not UTF-8 are not lost", "a: \u00fc\uDCFF|true", () -> {
            byte[] head = "HTTP/1.1 200 OK\r\nA: \u00fc?\r\n\r\n".getBytes(StandardCharsets.UTF_8);
            head[head.length - 5] = (byte) 0xff;
            Response response = Response.parse("GET", text(head), null).response();
            String value = response.headers().get("a");
            return "a: \u00fc\uDCFF|" + Arrays.equals(bytes(value), new byte[] {(byte) 0xc3, (byte) 0xbc, (byte) 0xff});
        });
        Checks.check("an array of texts is passed", List.of("GET", "PUT"), () -> {
            Retry retry = Retry.make(RetryOptions.make().allowedMethods(new String[] {"PUT", "GET"}));
            return List.of(retry.allowedMethod(0), retry.allowedMethod(1));
        });
        Checks.check("an array of numbers is passed", true,
                () -> Retry.make(RetryOptions.make().statusForcelist(new int[] {418})).isRetry("GET", 418, false));
        Checks.check("an array of header fields is passed", "1 x-one", () -> {
            Headers headers = Headers.make(new HeaderField[] {new HeaderField("x-one", "1")});
            return headers.value(0) + " " + headers.name(0);
        });
        Checks.check("an argument error has its own class", NetlibException.Argument.class, () -> {
            try {
                return Netlib.parseUrl("http://[");
            } catch (NetlibException refused) {
                return refused.getClass();
            }
        });
        Checks.check("an exception keeps its facts when it is serialised",
                "NETLIB_MAX_RETRY used up|refused|null|used up", () -> {
            NetlibError refused = NetlibError.make(Status.CONNECT_FAILED, "refused", null);
            NetlibException failed = NetlibException.of(
                    NetlibError.make(Status.MAX_RETRY, "used up", ErrorOptions.make().cause(refused)));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new ObjectOutputStream(bytes).writeObject(failed);
            Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
            NetlibException made = (NetlibException) read;
            boolean isEqual = Objects.equals(made.advice(), failed.advice()) && made.offset() == -1
                    && made.report().equals(failed.report());
            return (isEqual ? "" : "other ") + Netlib.statusName(made.status()) + " " + made.getMessage() + "|"
                    + made.causes().get(0).getMessage() + "|" + made.error() + "|" + NetlibException.errorOf(made).message();
        });
        Checks.check("the objects of an attempt outlive it", "http://a/ Content-Type true null|http://a/y false GET",
                () -> {
            Headers headers = Headers.make(new HeaderField[] {new HeaderField("Content-Type", "text/plain")});
            Attempts attempts = Attempts.make(Retry.recommended(), "POST", Netlib.parseUrl("http://a/"), headers, true,
                    null);
            Url first = attempts.url();
            Headers fields = attempts.headers();
            String start = " " + attempts.sendsBody() + " " + attempts.decision() + "|";
            for (String path : List.of("/x", "/y")) {
                Headers location = Headers.make(new HeaderField[] {new HeaderField("Location", path)});
                attempts.next(Response.make("POST", 303, location), null);
            }
            String last = attempts.url() + " " + attempts.sendsBody() + " " + attempts.method();
            attempts.close();
            return first + " " + fields.name(0) + start + last;
        });
        Checks.check("an exception that is not netlib's comes back as a cause", "NETLIB_MAX_RETRY true", () -> {
            Exception mine = new Exception("mine");
            Retry retry = Retry.make(RetryOptions.make().total(0));
            Attempts attempts = Attempts.make(retry, "GET", Netlib.parseUrl("http://a/"), null, false, null);
            try {
                return attempts.next(null, NetlibException.errorOf(mine));
            } catch (NetlibException failed) {
                return Netlib.statusName(failed.status()) + " " + (failed.getCause().getCause() == mine);
            }
        });
        Checks.check("an unchecked exception of a callback is thrown by the call", "ArithmeticException: / by zero",
                () -> {
            ConnectOptions options = ConnectOptions.make().addressCallback((address,
                    classes) -> divide(address.length));
            return Netlib.createConnection("127.0.0.1", 9, options, null);
        });
        Checks.check("an endless recursion of a callback is thrown by the call", "StackOverflowError: null", () -> {
            ConnectOptions options = ConnectOptions.make().addressCallback((address, classes) -> recurse(1));
            return Netlib.createConnection("127.0.0.1", 9, options, null);
        });
        Checks.check("a callback calls netlib while the arrays of the outer call are in use", "hello", () -> {
            Stream stream = Stream.newCallbacks(buffer -> {
                buffer.put("hello".getBytes(StandardCharsets.US_ASCII));
                Netlib.parseUrl("http://other.text/");
                return 5;
            }, bytes -> bytes.length);
            byte[] buffer = new byte[5];
            stream.read(buffer);
            return new String(buffer, StandardCharsets.US_ASCII);
        });
        Checks.check("large arrays are passed", 20_000, () -> {
            String path = "/" + "a".repeat(19_999);
            return Netlib.parseUrl("http://a" + path).path().length();
        });
        Checks.check("a verdict that is no verdict fails the call", true, () -> {
            ConnectOptions options = ConnectOptions.make().addressCallback((address, classes) -> Verdict.FAILED);
            try {
                return Netlib.createConnection("127.0.0.1", 9, options, null);
            } catch (NetlibException refused) {
                return refused.status() == Status.CALLBACK_FAILED || !refused.causes().isEmpty();
            }
        });
        Checks.check("the callbacks of a stream read and write", "hello|hello", () -> {
            StringBuilder written = new StringBuilder();
            boolean[] read = new boolean[1];
            Stream stream = Stream.newCallbacks(buffer -> {
                if (read[0]) {
                    throw new Progress(Status.END_OF_STREAM);
                }
                read[0] = true;
                buffer.put("hello".getBytes(StandardCharsets.US_ASCII));
                return 5;
            }, bytes -> {
                written.append(new String(bytes, StandardCharsets.US_ASCII));
                return bytes.length;
            });
            byte[] buffer = new byte[10];
            stream.write("hello".getBytes(StandardCharsets.US_ASCII));
            int n = (int) stream.read(buffer).n();
            boolean ended = stream.read(buffer).status() == Status.END_OF_STREAM;
            return written + "|" + (ended ? new String(buffer, 0, n, StandardCharsets.US_ASCII) : "no end");
        });
        Checks.check("a chunk is encoded from the bytes of the array", "5\r\nhello\r\n", () -> {
            byte[] buffer = new byte[18 + 5 + 2];
            System.arraycopy("hello".getBytes(StandardCharsets.US_ASCII), 0, buffer, 18, 5);
            return new String(Netlib.chunkEncode(buffer, 5), StandardCharsets.US_ASCII);
        });
        Checks.check("decoded bytes are those of the array", "hello", () -> {
            String head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
            BodyDecoder decoder = BodyDecoder.make(Response.parse("GET", head, null).response());
            return new String(decoder.decode("hello".getBytes(StandardCharsets.US_ASCII)).body(),
                    StandardCharsets.US_ASCII);
        });
        Checks.check("an object of a closed lender is refused",
                "the cause|IllegalStateException: NetlibError is closed", () -> {
            NetlibError given = NetlibError.make(Status.PROTOCOL, "the cause", null);
            NetlibError error = NetlibError.make(Status.MAX_RETRY, "the failure", ErrorOptions.make().cause(given));
            NetlibError cause = error.cause(0);
            String message = cause.message();
            error.close();
            try {
                return cause.message();
            } catch (IllegalStateException refused) {
                return message + "|IllegalStateException: " + refused.getMessage();
            }
        });
        Checks.check("a limit that is closed during a call lives until the call ends", "NETLIB_CANCELLED", () -> {
            Limit limit = Limit.make(30, null);
            Limit copy = limit.copy();
            Retry retry = Retry.make(RetryOptions.newRecommended().sleep(seconds -> {
                limit.close();
                copy.cancel();
                return Outcome.DONE;
            }));
            Response response = Response.parse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n", null).response();
            try {
                retry.decide("GET", Netlib.parseUrl("http://a/"), response, null, null).sleep(limit);
            } catch (NetlibException cancelled) {
                return Netlib.statusName(cancelled.status());
            }
            return "slept";
        });
        Checks.check("an array for a replaced number has one element",
                "IllegalArgumentException: state must have one element",
                () -> Response.parse("GET", "HTTP/1.1 200 OK\r\n\r\n", new long[0]));
        Checks.check("half of a surrogate pair is refused",
                "IllegalArgumentException: url has half of a surrogate pair",
                () -> Netlib.parseUrl("http://good.example\ud800.evil.example/"));
        Checks.check("a callback returns a result and two numbers", "OK OK RATE_LIMITED [rate:a\0b]", () -> {
            Map<String, Long> words = new HashMap<>();
            Store store = Store.make((key, expected, desired, ttl, timeout, actual, now) -> {
                long word = words.getOrDefault(key, 0L);
                actual.accept(word);
                now.accept(100);
                if (word != expected) {
                    return Swap.CHANGED;
                }
                words.put(key, desired);
                return Swap.SWAPPED;
            }, 1);
            Rate rate = Rate.make(RateOptions.make().limit(1, 2).store(store, Unavailable.CLOSED));
            return rate.take("a\0b", 1).status() + " " + rate.take("a\0b", 1).status() + " " + rate.take("a\0b",
                    1).status()
                    + " " + words.keySet();
        });
        Checks.check("calls that fail before C keep no callback and no object", "0 0 0", () -> {
            RetryOptions options = RetryOptions.make();
            options.close();
            Runnable setter = () -> options.sleep(seconds -> Outcome.DONE);
            TlsContext context = TlsContext.make(null);
            context.close();
            Runnable handle = () -> Netlib.tlsWrapCallbacks(context, "a", buffer -> 0, bytes -> 0);
            ErrorOptions error = ErrorOptions.make();
            error.close();
            Runnable object = () -> error.userData("object");
            return heldAfterFailure(setter) + " " + heldAfterFailure(handle) + " " + heldAfterFailure(object);
        });
        Checks.check("addresses that a callback keeps are refused later", "IllegalStateException: Addresses is closed",
                () -> {
            Addresses[] kept = new Addresses[1];
            try {
                Netlib.createConnection("a.test", 9, ConnectOptions.make().resolveCallback((host, port, left,
                        addresses) -> {
                    kept[0] = addresses;
                    throw new IOException("no address");
                }), null);
            } catch (Exception expected) {
                return kept[0].count();
            }
            return "connected";
        });
        for (String licence : new String[] {"LICENSE-APACHE", "LICENSE-MIT"}) {
            Checks.check("the JAR file contains " + licence, true, () -> resource(licence).length() > 1000);
        }
        Checks.check("the JAR file contains the notices of the crates in the library", true,
                () -> resource("THIRD-PARTY-NOTICES").contains("\naws-lc-sys "));
        TypesTest.run(Path.of(arguments[0]));
        WaitTest.run();
        Checks.exit();
    }

    /** Makes a call that must fail, and returns the number of objects that were held for C. */
    private static long heldAfterFailure(Runnable call) throws ReflectiveOperationException {
        Method next = Class.forName("netlib.Held").getDeclaredMethod("next");
        next.setAccessible(true);
        long before = (long) next.invoke(null);
        try {
            call.run();
        } catch (IllegalArgumentException | IllegalStateException refused) {
            return (long) next.invoke(null) - before;
        }
        throw new AssertionError("the call must fail");
    }

    private static Verdict divide(int number) {
        return Verdict.of(number / (number - number));
    }

    private static Verdict recurse(int depth) {
        return Verdict.of(recurse(depth + 1).number() + depth);
    }

    /** Returns the text of a file in META-INF. */
    private static String resource(String name) throws IOException {
        try (InputStream file = Netlib.class.getResourceAsStream("/META-INF/" + name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(b >= 0 ? (char) b : (char) (0xDC00 + (b & 0xff)));
        }
        return text.toString();
    }

    private static byte[] bytes(String undecoded) {
        byte[] bytes = new byte[undecoded.length()];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) undecoded.charAt(at);
        }
        return bytes;
    }
}
