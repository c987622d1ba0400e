import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import netlib.Action;
import netlib.AddressClass;
import netlib.Addresses;
import netlib.Attempts;
import netlib.Body;
import netlib.BodyDecoder;
import netlib.ConnectOptions;
import netlib.Decision;
import netlib.HeaderField;
import netlib.Headers;
import netlib.Library;
import netlib.Limit;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.Outcome;
import netlib.Request;
import netlib.RequestForm;
import netlib.Response;
import netlib.Retry;
import netlib.RetryOptions;
import netlib.Status;
import netlib.Stream;
import netlib.Timeout;
import netlib.TlsContext;
import netlib.TlsOptions;
import netlib.Url;
import netlib.Verdict;

/** Runs the steps of bindings/scenario.md. Arguments: SERVER CERTIFICATES TAG. */
public final class Scenario {
    private static String server;
    private static String certificates;
    private static String tag;
    private static final Map<String, String> PORTS = new HashMap<>();
    private static TlsContext tls;

    private Scenario() {}

    /** One HTTP request of a step. */
    private static final class Exchange {
        String method = "GET";
        Url url;
        Headers headers;
        Body body;
        TlsContext tls = Scenario.tls;
        ConnectOptions options;
        Limit limit;

        Exchange(String url) {
            this.url = Netlib.parseUrl(url);
        }

        record Result(Response response, String body) {}

        /** Connects, sends the request, and reads the response with its body. */
        Result run() {
            Headers sent = headers != null ? headers : headers("connection", "close");
            Request request = Request.make(method, url, sent, RequestForm.ORIGIN);
            try (Stream stream = Stream.connect(url, tls, options, limit).stream()) {
                stream.write(request.toWire());
                byte[] buffer = new byte[16384];
                if (body != null) {
                    Netlib.rewindBody(body, 0);
                    for (long n = body.read(buffer).n(); n > 0; n = body.read(buffer).n()) {
                        stream.write(java.util.Arrays.copyOf(buffer, (int) n));
                    }
                }
                Response response = stream.readResponse(method).response();
                StringBuilder received = new StringBuilder();
                BodyDecoder decoder = BodyDecoder.make(response);
                Status status;
                do {
                    Stream.ReadBodyResult read = stream.readBody(decoder, buffer);
                    received.append(new String(buffer, 0, (int) read.n(), StandardCharsets.ISO_8859_1));
                    status = read.status();
                } while (status != Status.END_OF_STREAM);
                String text = received.toString();
                return new Result(response, text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
            }
        }

        String answer() {
            try {
                Result result = run();
                return result.response().status() + " " + result.body();
            } catch (NetlibException failed) {
                return describe(failed);
            }
        }
    }

    /** A request that is repeated as the recommended Retry decides. */
    private static final class Download {
        final Exchange exchange;
        int attempts;
        final List<String> waits = new ArrayList<>();
        Exchange.Result result;

        Download(Exchange exchange) {
            this.exchange = exchange;
        }

        Download run() {
            RetryOptions options = RetryOptions.newRecommended().sleep(seconds -> {
                waits.add(String.format(Locale.ROOT, "%.3f", seconds));
                return Outcome.DONE;
            }).random(() -> 0.5);
            Attempts loop = Attempts.make(Retry.make(options), exchange.method, exchange.url, exchange.headers, false, null);
            Status status;
            do {
                attempts++;
                exchange.method = loop.method();
                exchange.url = loop.url();
                exchange.headers = loop.headers();
                try {
                    result = exchange.run();
                    status = loop.next(result.response(), null);
                } catch (NetlibException failed) {
                    status = loop.next(null, failed.error());
                }
            } while (status == Status.SEND_AGAIN);
            return this;
        }

        String slept() {
            return waits.isEmpty() ? "-" : String.join(",", waits);
        }

        String prefix() {
            return result.response().status() + " " + attempts + " " + slept() + " ";
        }

        String line() {
            return prefix() + result.body().lines().findFirst().orElse("");
        }
    }

    private static String failedDownload(String path) throws Exception {
        Download download = new Download(new Exchange(address("https", path)));
        NetlibException failed = failure(download::run);
        StringBuilder messages = new StringBuilder(failed.getMessage());
        for (NetlibException cause : failed.causes()) {
            messages.append('|').append(cause.getMessage());
        }
        return status(failed) + " " + download.attempts + " " + download.slept() + " " + messages;
    }

    private static Headers headers(String... namesAndValues) {
        HeaderField[] fields = new HeaderField[namesAndValues.length / 2];
        for (int at = 0; at < fields.length; at++) {
            fields[at] = new HeaderField(namesAndValues[2 * at], namesAndValues[2 * at + 1]);
        }
        return Headers.make(fields);
    }

    private static String address(String port, String path) {
        String scheme = port.equals("http") || port.equals("mute") ? "http" : "https";
        return scheme + "://localhost:" + PORTS.get(port) + path + "?" + tag;
    }

    private static TlsContext context(TlsOptions options) {
        return TlsContext.make(options.addCaFile(server + "/ca.pem"));
    }

    private static NetlibException failure(Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (NetlibException failed) {
            return failed;
        }
        throw new IllegalStateException("the call must fail");
    }

    private static String status(NetlibException failed) {
        return Netlib.statusName(failed.status());
    }

    private static String describe(NetlibException failed) {
        String advice = failed.advice() == null ? "-" : failed.advice().split(":")[0];
        return status(failed) + " " + failed.causes().size() + " " + failed.getMessage() + "|" + advice;
    }

    private static String located(NetlibException failed) {
        return status(failed) + " " + failed.offset() + " " + failed.getMessage();
    }

    private static Object handshake(String port, TlsOptions options) {
        try (Stream stream = Stream.connect(Netlib.parseUrl(address(port, "/")), context(options), null, null).stream()) {
            return stream.handshake();
        }
    }

    /** Returns a header in the body of the path /echo. */
    private static String received(String body, String name) {
        for (String line : body.split("\n")) {
            if (line.toLowerCase(Locale.ROOT).startsWith(name + ": ")) {
                return line.substring(name.length() + 2);
            }
        }
        return "absent";
    }

    private static long resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }

    private static void step(String name, Callable<String> run) {
        String printed;
        try {
            printed = run.call();
        } catch (Exception failed) {
            printed = "failed: " + failed;
        }
        System.out.println(name + "\t" + printed);
    }

    public static void main(String[] arguments) throws Exception {
        server = arguments[0];
        certificates = arguments[1];
        tag = arguments[2];
        for (String line : Files.readAllLines(Path.of(server, "ports"))) {
            PORTS.put(line.split("=")[0], line.split("=")[1]);
        }
        tls = context(TlsOptions.make());
        urls();
        retries();
        sessions();
        limits();
        callbacks();
        runtime();
        System.exit(0);
    }

    private static void urls() {
        step("version", () -> Netlib.version().substring(0, Netlib.version().lastIndexOf('.')));
        step("version-refused", () -> {
            try {
                Library.checkVersion(Netlib.version(), "0.0");
            } catch (LinkageError refused) {
                boolean names = refused.getMessage().contains("0.0") && refused.getMessage().contains(Netlib.version());
                return names ? "refused" : refused.getMessage();
            }
            return "accepted";
        });
        step("url-parse", () -> {
            Url url = Netlib.parseUrl("HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f");
            return String.join("|", url.scheme(), url.auth(), url.host(), String.valueOf(url.port()), url.path(),
                    url.query(), url.fragment(), url.toString());
        });
        step("url-resolve", () -> {
            List<String> found = new ArrayList<>();
            for (String reference : new String[] {"g", "../g", "//g", "?y"}) {
                found.add(Netlib.parseUrl("http://a/b/c/d;p?q").resolve(reference).toString());
            }
            return String.join(" ", found);
        });
        step("url-error", () -> located(failure(() -> Netlib.parseUrlStrict("http://exa mple.com/"))));
        step("url-nul", () -> located(failure(() -> Netlib.parseUrl("http://a.example\0.b/"))));
        step("host-nul", () -> {
            try {
                Netlib.createConnection("127.0.0.1\0.b", Integer.parseInt(PORTS.get("http")), null, null);
            } catch (IllegalArgumentException refused) {
                return "refused";
            }
            return "accepted";
        });
        step("truth-values", () -> {
            Url url = Netlib.parseUrl("https://example.com:8443/");
            Retry retry = Retry.make(RetryOptions.make().raiseOnStatus(false).raiseOnRedirect(true));
            return url.sameOrigin(Netlib.parseUrl("https://example.com:8443/x")) + " "
                    + url.sameOrigin(Netlib.parseUrl("https://example.com/")) + " " + retry.raiseOnStatus() + " "
                    + retry.raiseOnRedirect();
        });
    }

    private static void retries() {
        step("retry-reset", () -> new Download(new Exchange(address("https", "/reset-after-head"))).run().line());
        step("retry-after", () -> new Download(new Exchange(address("https", "/busy-once"))).run().line());
        step("retry-redirect", () -> {
            Exchange exchange = new Exchange(address("https", "/redirect-other-origin"));
            exchange.headers = headers("connection", "close", "authorization", "Basic dTpw", "x-one", "1");
            Download download = new Download(exchange).run();
            String body = download.result.body();
            return download.prefix() + download.exchange.url.path() + " authorization=" + received(body, "authorization")
                    + " x-one=" + received(body, "x-one");
        });
        step("retry-exhausted", () -> failedDownload("/hang-up"));
        step("retry-stopped", () -> failedDownload("/come-back-tomorrow"));
        step("body-again", () -> {
            Exchange exchange = new Exchange(address("https", "/reset-after-request"));
            exchange.method = "PUT";
            exchange.body = Body.fromMemory("0123456789".getBytes(StandardCharsets.US_ASCII));
            exchange.headers = headers("connection", "close", "content-length", "10");
            Download download = new Download(exchange).run();
            return download.prefix() + download.result.body().split("\n\n")[1];
        });
    }

    private static void sessions() {
        step("tls-get", () -> new Download(new Exchange(address("https", "/hello"))).run().line());
        step("tls-wrong-name", () -> describe(failure(() -> handshake("wronghost", TlsOptions.make()))));
        step("tls-expired", () -> describe(
                failure(() -> handshake("expired", TlsOptions.make().wallClock(() -> 2000000000)))));
        step("tls-untrusted", () -> describe(failure(() -> handshake("untrusted", TlsOptions.make()))));
        step("tls-client", () -> {
            Exchange exchange = new Exchange(address("clients", "/hello"));
            exchange.tls = context(TlsOptions.make().identityFiles(certificates + "/client.pem", certificates + "/client.key"));
            return exchange.answer();
        });
        step("tls-client-missing", () -> new Exchange(address("clients", "/hello")).answer());
        step("tls-fingerprint", () -> {
            try (Stream stream = Stream.connect(Netlib.parseUrl(address("https", "/")), tls, null, null).stream()) {
                stream.handshake();
                byte[] certificate = stream.peerCertificate(0);
                Netlib.assertFingerprint(certificate, Files.readString(Path.of(server, "sha256")).strip());
                return "true " + status(failure(() -> {
                    Netlib.assertFingerprint(certificate, "0".repeat(64));
                    return null;
                }));
            }
        });
        step("tls-pin", () -> status(
                failure(() -> handshake("https", TlsOptions.make().addPin("sha256//" + "A".repeat(43) + "=")))));
    }

    private static void limits() {
        step("fifty", () -> {
            ExecutorService threads = Executors.newFixedThreadPool(50);
            List<Future<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                answers.add(threads.submit(() -> new Exchange(address("http", "/when-fifty-ask")).run().response().status()));
            }
            int succeeded = 0;
            for (Future<Integer> answer : answers) {
                succeeded += answer.get() == 200 ? 1 : 0;
            }
            threads.shutdown();
            return String.valueOf(succeeded);
        });
        step("deadline", () -> {
            Exchange exchange = new Exchange(address("mute", "/"));
            exchange.limit = Limit.make(0.05, null);
            return status(failure(exchange::run));
        });
        step("cancel", () -> {
            Exchange exchange = new Exchange(address("mute", "/"));
            exchange.limit = Limit.make(30, null);
            Thread canceller = new Thread(exchange.limit::cancel);
            canceller.start();
            return status(failure(exchange::run));
        });
    }

    private static void callbacks() {
        step("callback-clock", () -> {
            Timeout timeout = Timeout.make(10, Netlib.timeoutNone(), Netlib.timeoutNone());
            double[] now = {100};
            timeout.setClock(() -> now[0]);
            timeout.startConnect();
            now[0] = 103;
            return String.format(Locale.ROOT, "%.3f", timeout.readTimeout());
        });
        step("callback-resolve", () -> {
            String[] asked = new String[1];
            Exchange exchange = new Exchange(address("http", "/hello").replace("localhost", "a.test"));
            exchange.options = ConnectOptions.make().resolveCallback((host, port, left, addresses) -> {
                asked[0] = host;
                addresses.add(loopback(port));
            });
            String answer = exchange.answer();
            return asked[0] + " " + answer;
        });
        step("callback-address", () -> {
            long[] seen = new long[1];
            Exchange exchange = new Exchange(address("https", "/hello").replace("localhost", "127.0.0.1"));
            exchange.options = ConnectOptions.make().addressCallback((address, classes) -> {
                seen[0] = classes.stream().mapToLong(AddressClass::number).sum();
                return Verdict.REFUSE;
            });
            return status(failure(exchange::run)) + " " + seen[0];
        });
        step("callback-raises", () -> {
            Exception raised = new Exception("raised in the callback");
            Exchange exchange = new Exchange(address("http", "/hello") + "-refused");
            exchange.options = ConnectOptions.make().addressCallback((address, classes) -> {
                throw raised;
            });
            Exception caught = null;
            try {
                exchange.run();
            } catch (Exception failed) {
                caught = failed;
            }
            String log = Files.readString(Path.of(server, "requests"));
            return (caught == raised ? "same" : "different: " + caught) + " " + (log.split("\\?" + tag + "-refused", -1).length - 1);
        });
        step("callback-collected", () -> {
            List<String> slept = new ArrayList<>();
            Retry retry = sleeper(slept);
            for (int i = 0; i < 3; i++) {
                System.gc();
                Thread.sleep(20);
            }
            Response response = Response.parse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n", null).response();
            Decision decision = retry.decide("GET", Netlib.parseUrl("http://a/"), response, null, null);
            decision.sleep(null);
            return decision.action() == Action.RETRY ? String.join(",", slept) : "no retry";
        });
        step("key-log", () -> {
            String file = server + "/key-log-" + tag;
            Exchange exchange = new Exchange(address("https", "/hello"));
            exchange.tls = context(TlsOptions.make().keylogFile(file));
            exchange.run();
            return Files.readString(Path.of(file)).split(" ")[0];
        });
        step("user-data", () -> {
            Exception original = new Exception("an exception of the application");
            Retry retry = Retry.make(RetryOptions.make().total(0));
            Attempts attempts = Attempts.make(retry, "GET", Netlib.parseUrl("http://a/"), null, false, null);
            try {
                attempts.next(null, NetlibException.errorOf(original));
            } catch (NetlibException failed) {
                for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
                    if (cause == original) {
                        return "same";
                    }
                }
            }
            return "different";
        });
    }

    private static Retry sleeper(List<String> slept) {
        return Retry.make(RetryOptions.newRecommended().sleep(seconds -> {
            slept.add(String.format(Locale.ROOT, "%.3f", seconds));
            return Outcome.DONE;
        }));
    }

    /** Returns 127.0.0.1 as a struct sockaddr_in. */
    private static byte[] loopback(int port) {
        ByteBuffer address = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder()).putShort((short) 2);
        address.order(ByteOrder.BIG_ENDIAN).putShort((short) port).put(new byte[] {127, 0, 0, 1});
        return address.array();
    }

    private static void runtime() {
        step("collected", () -> {
            for (int i = 0; i < 2000; i++) {
                Netlib.parseUrl("https://user@example.com:8443/a/long/path?" + i);
            }
            System.gc();
            long before = resident();
            for (int i = 0; i < 100_000; i++) {
                Netlib.parseUrl("https://user@example.com:8443/a/long/path?" + i);
                if (i % 5000 == 0) {
                    System.gc(); // the garbage collector does not see the memory of C
                    Thread.sleep(5);
                }
            }
            long grown = resident() - before;
            return grown < 32 << 20 ? "bounded" : String.valueOf(grown);
        });
        step("fork", () -> "not applicable: Java programs cannot fork without exec");
        step("interrupt", () -> "not applicable: SIGINT ends a Java program");
    }
}
