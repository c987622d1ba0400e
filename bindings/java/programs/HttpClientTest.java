import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import netlib.Certificate;
import netlib.NetlibSslContext;
import netlib.TlsContext;
import netlib.TlsOptions;
import netlib.VerifyMode;

/** Tests NetlibSslContext with HttpClient. The program tests HttpClient without HTTPS. Argument: the directory tests/certs. */
public final class HttpClientTest {
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);

    static final String HTTPS_REFUSED = "IllegalArgumentException: an engine of netlib cannot have the endpoint identification "
            + "HTTPS, because its TLS context does not check host names. HttpClient does not require HTTPS with "
            + "-Djdk.internal.httpclient.disableHostnameVerification";

    private HttpClientTest() {}

    /** Java must run with the option -Djdk.internal.httpclient.disableHostnameVerification. */
    public static void main(String[] arguments) throws Exception {
        TestContexts.certificates = Path.of(arguments[0]);
        String answer = "200 hello HTTP_2 TLSv1.3, 1 requests";
        testRefusals("HttpClient that does not require HTTPS", List.of(
            new Refusal("a TLS context that checks names", "wrong-name", TestContexts.options("ca"),
                    "SSLHandshakeException NETLIB_HOSTNAME_MISMATCH, 0 requests"),
            new Refusal("a TLS context that checks no names", "wrong-name",
                    TestContexts.options("ca").checkHostname(false), answer),
            new Refusal("a TLS context that verifies nothing", "expired",
                    TlsOptions.make().verifyMode(VerifyMode.NONE), answer)));
        Checks.exit();
    }

    static void run() throws Exception {
        testResponses();
        testRefusals();
        testChangedFile();
        testProxy();
    }

    private static HttpClient client(SSLContext context, HttpClient.Version version) {
        return HttpClient.newBuilder().sslContext(context).version(version).build();
    }

    private static TlsServer server(String certificate, byte[] answer) throws Exception {
        return new TlsServer(TestContexts.server(certificate), answer);
    }

    private static HttpRequest.Builder request(TlsServer server) {
        URI uri = URI.create("https://localhost:" + server.port() + "/");
        return HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60));
    }

    private static String get(TlsServer server, HttpClient client) throws Exception {
        HttpResponse<String> response = client.send(request(server).build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() + " " + response.body() + " " + response.version() + " "
                + response.sslSession().orElseThrow().getProtocol();
    }

    private static void testResponses() throws Exception {
        byte[] sent = new byte[1 << 19];
        byte[] large = new byte[1 << 22];
        new Random(1).nextBytes(sent);
        new Random(2).nextBytes(large);
        SSLContext context = TestContexts.client(TestContexts.options("ca"));
        SSLParameters old = new SSLParameters(null, new String[] {"TLSv1.2"});
        try (TlsServer server = server("server", HELLO);
                TlsServer largeServer = server("server", large)) {
            for (HttpClient.Version version : HttpClient.Version.values()) {
                HttpClient client = client(context, version);
                Checks.check(version + ": a request and its response", "200 hello " + version + " TLSv1.3", () -> get(server, client));
                Checks.check(version + ": a large request", true, () -> {
                    HttpRequest request = request(server).POST(HttpRequest.BodyPublishers.ofByteArray(sent)).build();
                    return Arrays.equals(sent, client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
                });
                Checks.check(version + ": a large response, with changes of the keys", true, () -> {
                    HttpRequest request = request(largeServer).build();
                    return Arrays.equals(large, client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
                });
                Checks.check(version + ": 30 requests at the same time", 30L, () -> {
                    List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
                    for (int at = 0; at < 30; at++) {
                        all.add(client.sendAsync(request(server).build(), HttpResponse.BodyHandlers.ofString()));
                    }
                    return all.stream().filter(one -> one.join().body().equals("hello")).count();
                });
                Checks.check(version + ": SSLParameters choose TLS 1.2", "200 hello " + version + " TLSv1.2", () -> get(server,
                        HttpClient.newBuilder().sslContext(context).sslParameters(old).version(version).build()));
            }
            Checks.check("the session of a response has the certificate of the server", "CN=localhost TLS_ 1 localhost", () -> {
                HttpClient client = client(context, HttpClient.Version.HTTP_1_1);
                HttpResponse<?> response = client.send(request(server).build(), HttpResponse.BodyHandlers.discarding());
                SSLSession session = response.sslSession().orElseThrow();
                return session.getPeerPrincipal() + " " + session.getCipherSuite().substring(0, 4) + " "
                        + session.getPeerCertificates().length + " " + session.getPeerHost();
            });
        }
    }

    /** The response or the failure, and the number of requests that the server has received. */
    private static String outcome(TlsServer server, HttpClient client) throws Exception {
        String found;
        try {
            found = get(server, client);
        } catch (IOException refused) {
            found = Checks.describe(refused);
        }
        return found + ", " + server.requests() + " requests";
    }

    private record Refusal(String what, String certificate, TlsOptions options, String expected) {}

    private static void testRefusals() throws Exception {
        byte[] pem = Files.readAllBytes(TestContexts.certificates.resolve("server.pem"));
        String pin = Certificate.parse(pem).publicKeyPin();
        String other = "sha256//" + "A".repeat(43) + "=";
        String answer = "200 hello HTTP_2 TLSv1.3, 1 requests";
        testRefusals("HttpClient", List.of(
            new Refusal("an unknown authority", "server", TestContexts.options("other-ca"),
                    "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, 0 requests"),
            new Refusal("a certificate for another name", "wrong-name", TestContexts.options("ca"),
                    "SSLHandshakeException NETLIB_HOSTNAME_MISMATCH, 0 requests"),
            new Refusal("an expired certificate", "expired", TestContexts.options("ca"),
                    "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, 0 requests"),
            new Refusal("a pin of another key", "server", TestContexts.options("ca").addPin(other),
                    "SSLHandshakeException NETLIB_FINGERPRINT_MISMATCH, 0 requests"),
            new Refusal("the pin of the key", "server", TestContexts.options("ca").addPin(pin), answer),
            new Refusal("a pin in place of the chain", "server",
                    TestContexts.options("other-ca").addPin(pin).pinsReplaceChain(true), answer),
            new Refusal("a TLS context that checks no names", "server",
                    TestContexts.options("ca").checkHostname(false), HTTPS_REFUSED),
            new Refusal("a TLS context that verifies nothing", "server",
                    TlsOptions.make().verifyMode(VerifyMode.NONE), HTTPS_REFUSED)));
    }

    private static void testRefusals(String client, List<Refusal> rows) throws Exception {
        for (Refusal row : rows) {
            try (TlsServer server = server(row.certificate(), HELLO)) {
                HttpClient used = client(TestContexts.client(row.options()), HttpClient.Version.HTTP_2);
                Checks.check(client + " with " + row.what(), row.expected(), () -> outcome(server, used));
            }
        }
    }

    private record ChangedFile(String what, Path content, String certificate, HttpClient client, String expected) {}

    private static void testChangedFile() throws Exception {
        Path file = Files.createTempFile("netlib", ".pem");
        Path original = TestContexts.certificates.resolve("ca.pem");
        Path other = TestContexts.certificates.resolve("self-signed.pem");
        Files.copy(original, file, StandardCopyOption.REPLACE_EXISTING);
        SSLContext context = TestContexts.client(TlsOptions.make().addCaFile(file.toString()));
        HttpClient old = HttpClient.newBuilder().sslContext(context)
                .sslParameters(new SSLParameters(null, new String[] {"TLSv1.2"})).build();
        String refused = "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, 0 requests";
        List<ChangedFile> rows = new ArrayList<>();
        for (HttpClient.Version version : HttpClient.Version.values()) {
            String answer = "200 hello " + version + " TLSv1.3, 1 requests";
            rows.add(new ChangedFile(version + ", the original authority, other content", other, "server",
                    client(context, version), answer));
            rows.add(new ChangedFile(version + ", the new authority, other content", other, "self-signed",
                    client(context, version), refused));
            rows.add(new ChangedFile(version + ", the original authority, no file", null, "server",
                    client(context, version), answer));
        }
        rows.add(new ChangedFile("only TLS 1.2, the new authority, other content", other, "self-signed", old,
                "SSLHandshakeException: the files or the environment of the TLS context have changed, 0 requests"));
        rows.add(new ChangedFile("only TLS 1.2, the original authority, no file", null, "server", old,
                "SSLHandshakeException NETLIB_IO, 0 requests"));
        rows.add(new ChangedFile("only TLS 1.2, the original authority, the original content", original, "server", old,
                "200 hello HTTP_2 TLSv1.2, 1 requests"));
        for (ChangedFile row : rows) {
            if (row.content() == null) {
                Files.delete(file);
            } else {
                Files.copy(row.content(), file, StandardCopyOption.REPLACE_EXISTING);
            }
            try (TlsServer server = server(row.certificate(), HELLO)) {
                Checks.check("after a change of the file: " + row.what(), row.expected(), () -> outcome(server, row.client()));
            }
        }
        Checks.check("after a change of the file: an engine for only http/1.1, no file", "http/1.1", () -> {
            Files.delete(file);
            EnginePair pair = new EnginePair(context, TestContexts.server("server"), "TLSv1.3");
            SSLParameters parameters = new SSLParameters();
            parameters.setApplicationProtocols(new String[] {"http/1.1"});
            pair.client.setSSLParameters(parameters);
            return pair.handshake().client.getApplicationProtocol();
        });
        Files.copy(original, file, StandardCopyOption.REPLACE_EXISTING);
        Checks.check("the file has changed before the context is made",
                "IllegalStateException: the files or the environment of the TLS context have changed", () -> {
            try (TlsContext tls = TlsContext.make(TlsOptions.make().addCaFile(file.toString()))) {
                Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
                return new NetlibSslContext(tls).getProtocol();
            }
        });
        Files.delete(file);
        Checks.check("a clock and CRLs count as unchanged", "TLS", () -> TestContexts.client(TestContexts.options("ca")
                .wallClock(() -> 0).addCrlFile(TestContexts.certificates.resolve("verify/root.crl").toString())).getProtocol());
    }

    private static void testProxy() throws Exception {
        String other = "sha256//" + "A".repeat(43) + "=";
        String[][] rows = {
            {"200 hello HTTP_2 TLSv1.3, 1 requests", null},
            {"SSLHandshakeException NETLIB_FINGERPRINT_MISMATCH, 0 requests", other},
        };
        for (String[] row : rows) {
            TlsOptions options = TestContexts.options("ca");
            if (row[1] != null) {
                options.addPin(row[1]);
            }
            try (TlsServer server = server("server", HELLO); TunnelProxy proxy = new TunnelProxy()) {
                HttpClient client = HttpClient.newBuilder().sslContext(TestContexts.client(options))
                        .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", proxy.port()))).build();
                Checks.check("through a proxy, with the pin " + row[1], row[0], () -> outcome(server, client));
            }
        }
    }
}
