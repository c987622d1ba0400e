import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Security;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionBindingEvent;
import javax.net.ssl.SSLSessionBindingListener;
import netlib.Certificate;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.NetlibSslContext;
import netlib.TlsContext;
import netlib.TlsOptions;

/** Tests NetlibSslContext, with HttpClient and with engines in memory. Argument: the directory tests/certs. */
public final class EngineTest {
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final Map<String, SSLContext> SERVERS = new HashMap<>();
    private static Path certificates;
    private static int passed;
    private static int failed;

    private EngineTest() {}

    private static void check(String what, Object expected, Callable<?> call) {
        Object found;
        try {
            found = call.call();
        } catch (Throwable raised) {
            found = describe(raised);
        }
        if (Objects.deepEquals(expected, found)) {
            passed++;
        } else {
            failed++;
            System.out.println("FAILED: " + what + ": expected " + expected + ", found " + found);
        }
    }

    /** The class of a failure, and the status of netlib that caused it. */
    private static String describe(Throwable raised) {
        String text = raised.getClass().getSimpleName();
        for (Throwable at = raised; at != null; at = at.getCause()) {
            if (at instanceof NetlibException cause) {
                return text + " " + Netlib.statusName(cause.status());
            }
        }
        return text + ": " + raised.getMessage();
    }

    public static void main(String[] arguments) throws Exception {
        certificates = Path.of(arguments[0]);
        // The servers change the keys after 1 MiB in one direction.
        Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^20, ChaCha20-Poly1305 KeyUpdate 2^20");
        testHttpClient();
        testRefusals();
        testSettings();
        for (String version : new String[] {"TLSv1.2", "TLSv1.3"}) {
            testMemory(version);
        }
        testFailures();
        testSession();
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static SSLContext serverContext(String certificate) throws Exception {
        if (!SERVERS.containsKey(certificate)) {
            SERVERS.put(certificate, TlsServer.context(certificates, certificate));
        }
        return SERVERS.get(certificate);
    }

    private static TlsOptions options(String authority) {
        return TlsOptions.make().addCaFile(certificates.resolve(authority + ".pem").toString());
    }

    private static SSLContext context(TlsOptions options) {
        try (TlsContext tls = TlsContext.make(options)) {
            return new NetlibSslContext(tls);
        }
    }

    // HttpClient.

    private static HttpClient client(SSLContext context, HttpClient.Version version) {
        return HttpClient.newBuilder().sslContext(context).version(version).build();
    }

    private static TlsServer server(String certificate, byte[] answer) throws Exception {
        return new TlsServer(serverContext(certificate), answer);
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

    private static void testHttpClient() throws Exception {
        byte[] sent = new byte[1 << 19];
        byte[] large = new byte[1 << 22];
        new Random(1).nextBytes(sent);
        new Random(2).nextBytes(large);
        SSLContext context = context(options("ca"));
        SSLParameters old = new SSLParameters(null, new String[] {"TLSv1.2"});
        try (TlsServer server = server("server", HELLO);
                TlsServer largeServer = server("server", large)) {
            for (HttpClient.Version version : HttpClient.Version.values()) {
                HttpClient client = client(context, version);
                check(version + ": a request and its response", "200 hello " + version + " TLSv1.3", () -> get(server, client));
                check(version + ": a large request", true, () -> {
                    HttpRequest request = request(server).POST(HttpRequest.BodyPublishers.ofByteArray(sent)).build();
                    return Arrays.equals(sent, client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
                });
                check(version + ": a large response, with changes of the keys", true, () -> {
                    HttpRequest request = request(largeServer).build();
                    return Arrays.equals(large, client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
                });
                check(version + ": 30 requests at the same time", 30L, () -> {
                    List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
                    for (int at = 0; at < 30; at++) {
                        all.add(client.sendAsync(request(server).build(), HttpResponse.BodyHandlers.ofString()));
                    }
                    return all.stream().filter(one -> one.join().body().equals("hello")).count();
                });
                check(version + ": SSLParameters choose TLS 1.2", "200 hello " + version + " TLSv1.2", () -> get(server,
                        HttpClient.newBuilder().sslContext(context).sslParameters(old).version(version).build()));
            }
            check("the session of a response has the certificate of the server", "CN=localhost TLS_ 1 localhost", () -> {
                HttpClient client = client(context, HttpClient.Version.HTTP_1_1);
                HttpResponse<?> response = client.send(request(server).build(), HttpResponse.BodyHandlers.discarding());
                SSLSession session = response.sslSession().orElseThrow();
                return session.getPeerPrincipal() + " " + session.getCipherSuite().substring(0, 4) + " "
                        + session.getPeerCertificates().length + " " + session.getPeerHost();
            });
        }
    }

    private record Refusal(String what, String certificate, TlsOptions options, String expected) {}

    private static void testRefusals() throws Exception {
        byte[] pem = java.nio.file.Files.readAllBytes(certificates.resolve("server.pem"));
        String pin = Certificate.parse(pem).publicKeyPin();
        String other = "sha256//" + "A".repeat(43) + "=";
        String answer = "200 hello HTTP_2 TLSv1.3, 1 requests";
        for (Refusal row : new Refusal[] {
            new Refusal("an unknown authority", "server", options("other-ca"),
                    "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, 0 requests"),
            new Refusal("a certificate for another name", "wrong-name", options("ca"),
                    "SSLHandshakeException NETLIB_HOSTNAME_MISMATCH, 0 requests"),
            new Refusal("an expired certificate", "expired", options("ca"),
                    "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, 0 requests"),
            new Refusal("a pin of another key", "server", options("ca").addPin(other),
                    "SSLHandshakeException NETLIB_FINGERPRINT_MISMATCH, 0 requests"),
            new Refusal("the pin of the key", "server", options("ca").addPin(pin), answer),
            new Refusal("a pin in place of the chain", "server",
                    options("other-ca").addPin(pin).pinsReplaceChain(true), answer),
            new Refusal("another name, if the TLS context checks no names", "wrong-name",
                    options("ca").checkHostname(false), answer),
        }) {
            try (TlsServer server = server(row.certificate(), HELLO)) {
                check("HttpClient with " + row.what(), row.expected(), () -> {
                    String found;
                    try {
                        found = get(server, client(context(row.options()), HttpClient.Version.HTTP_2));
                    } catch (IOException refused) {
                        found = describe(refused);
                    }
                    return found + ", " + server.requests() + " requests";
                });
            }
        }
    }

    // Settings.

    private interface Setting {
        void set(SSLEngine engine);
    }

    private static Setting parameters(java.util.function.Consumer<SSLParameters> change) {
        return engine -> {
            SSLParameters parameters = engine.getSSLParameters();
            change.accept(parameters);
            engine.setSSLParameters(parameters);
        };
    }

    private record RefusedSetting(String expected, Setting setting) {}

    private static void testSettings() {
        SSLContext context = context(options("ca").minimumVersion(netlib.TlsVersion.V1_3));
        String cannot = "IllegalArgumentException: an engine of netlib cannot have ";
        for (RefusedSetting row : new RefusedSetting[] {
            new RefusedSetting("the mode server", engine -> engine.setUseClientMode(false)),
            new RefusedSetting("client authentication of a server", engine -> engine.setNeedClientAuth(true)),
            new RefusedSetting("client authentication of a server", engine -> engine.setWantClientAuth(true)),
            new RefusedSetting("only resumed sessions", engine -> engine.setEnableSessionCreation(false)),
            new RefusedSetting("only the protocols [TLSv1.2, TLSv1.1]",
                    engine -> engine.setEnabledProtocols(new String[] {"TLSv1.2", "TLSv1.1"})),
            new RefusedSetting("other cipher suites than its TLS context: [TLS_AES_128_GCM_SHA256]",
                    parameters(given -> given.setCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"}))),
            new RefusedSetting("the endpoint identification LDAPS",
                    parameters(given -> given.setEndpointIdentificationAlgorithm("LDAPS"))),
            new RefusedSetting("the maximum packet size 600", parameters(given -> given.setMaximumPacketSize(600))),
        }) {
            check("the setting is refused: " + row.expected(), cannot + row.expected(), () -> {
                row.setting().set(context.createSSLEngine("localhost", 443));
                return "accepted";
            });
        }
        check("a TLS context with application protocols is refused", "IllegalArgumentException: the TLS context has "
                + "application protocols, which SSLParameters choose for each engine",
                () -> context(options("ca").addAlpnProtocol("h2")));
        check("the default settings are accepted", "TLSv1.3 HTTPS 3", () -> {
            SSLParameters parameters = context.getDefaultSSLParameters();
            context.createSSLEngine().setSSLParameters(parameters);
            return String.join(",", parameters.getProtocols()) + " " + parameters.getEndpointIdentificationAlgorithm() + " "
                    + Arrays.stream(parameters.getCipherSuites()).filter(suite -> suite.startsWith("TLS_")).filter(
                            suite -> !suite.contains("_WITH_")).count();
        });
        check("the settings are those that were set", "TLSv1.2 [h2] www.example", () -> {
            SSLEngine engine = context(options("ca")).createSSLEngine("example", 443);
            SSLParameters parameters = new SSLParameters(null, new String[] {"TLSv1.2", "TLSv1"});
            parameters.setApplicationProtocols(new String[] {"h2"});
            parameters.setServerNames(List.of(new SNIHostName("www.example")));
            engine.setSSLParameters(parameters);
            SSLParameters found = engine.getSSLParameters();
            return String.join(",", engine.getEnabledProtocols()) + " " + List.of(found.getApplicationProtocols()) + " "
                    + ((SNIHostName) found.getServerNames().get(0)).getAsciiName();
        });
        check("an engine without a name fails", "SSLHandshakeException NETLIB_INVALID_ARGUMENT", () -> {
            SSLEngine engine = context.createSSLEngine();
            engine.beginHandshake();
            return "begun";
        });
    }

    // Engines in memory.

    private static EnginePair pair(SSLContext context, String version) throws Exception {
        return new EnginePair(context, serverContext("server"), version);
    }

    private static String line(SSLEngineResult result) {
        return result.getStatus() + " " + result.getHandshakeStatus() + " " + result.bytesConsumed();
    }

    private static void testMemory(String version) throws Exception {
        SSLContext context = context(options("ca"));
        String prefix = version + ": ";
        check(prefix + "the statuses of a handshake", "NOT_HANDSHAKING [NEED_WRAP, NEED_UNWRAP, "
                + (version.equals("TLSv1.3") ? "NEED_WRAP, NEED_UNWRAP, NEED_WRAP" : "NEED_WRAP, NEED_UNWRAP")
                + ", FINISHED] NOT_HANDSHAKING", () -> {
                    EnginePair pair = pair(context, version);
                    HandshakeStatus first = pair.client.getHandshakeStatus();
                    return first + " " + pair.handshake().statuses + " " + pair.client.getHandshakeStatus();
                });
        check(prefix + "wrap starts the handshake", "OK NEED_UNWRAP 0",
                () -> line(pair(context, version).wrap("early")));
        check(prefix + "the application protocol", "null null h2 null http/1.1", () -> {
            EnginePair pair = pair(context, version);
            SSLParameters parameters = new SSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            pair.client.setSSLParameters(parameters);
            String before = pair.client.getApplicationProtocol() + " " + pair.client.getHandshakeApplicationProtocol();
            pair.handshake();
            EnginePair other = pair(context, version);
            parameters.setApplicationProtocols(new String[] {"spdy", "http/1.1"});
            other.client.setSSLParameters(parameters);
            other.handshake();
            return before + " " + pair.client.getApplicationProtocol() + " " + pair.client.getHandshakeApplicationProtocol()
                    + " " + other.client.getApplicationProtocol();
        });
        check(prefix + "no application protocol is empty text", "",
                () -> pair(context, version).handshake().client.getApplicationProtocol());
        check(prefix + "several sources make one record", "OK NOT_HANDSHAKING 5|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            return line(pair.wrap("he", "", "llo")) + "|" + pair.runServer("");
        });
        check(prefix + "a record has at most 16384 bytes", "OK NOT_HANDSHAKING 16384", () -> {
            EnginePair pair = pair(context, version).handshake();
            SSLEngineResult result = pair.wrap("a".repeat(10_000), "b".repeat(10_000));
            pair.runServer("");
            return line(result);
        });
        check(prefix + "data fills several targets", "OK NOT_HANDSHAKING|he|llo", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            ByteBuffer small = ByteBuffer.allocate(2);
            ByteBuffer large = ByteBuffer.allocate(1 << 15);
            SSLEngineResult result = pair.client.unwrap(pair.toClient, new ByteBuffer[] {small, large});
            String texts = EnginePair.text(small) + "|" + EnginePair.text(large);
            return result.getStatus() + " " + result.getHandshakeStatus() + "|" + texts;
        });
        check(prefix + "a part of a record consumes nothing", "BUFFER_UNDERFLOW NOT_HANDSHAKING 0 everywhere|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            String first = null;
            for (int size = 0; size < pair.toClient.limit(); size++) {
                ByteBuffer part = pair.toClient.duplicate().limit(size);
                String found = line(pair.client.unwrap(part, pair.received));
                if (part.position() != 0 || first != null && !first.equals(found)) {
                    return found + " at " + size;
                }
                first = found;
            }
            pair.unwrap();
            return first + " everywhere|" + EnginePair.text(pair.received);
        });
        check(prefix + "the next engine resumes the session, without the certificate", true, () -> {
            SSLContext own = context(options("ca"));
            int first = pair(own, version).handshake().sentByServer;
            EnginePair second = pair(own, version).handshake();
            return second.sentByServer < first - 500
                    && second.client.getSession().getPeerPrincipal().getName().equals("CN=localhost");
        });
        check(prefix + "small targets", "BUFFER_OVERFLOW 0 0|BUFFER_OVERFLOW 0 0|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            ByteBuffer small = ByteBuffer.allocate(4);
            SSLEngineResult in = pair.client.unwrap(pair.toClient, small);
            SSLEngineResult out = pair.client.wrap(EnginePair.bytes("hello"), small);
            pair.unwrap();
            return in.getStatus() + " " + in.bytesConsumed() + " " + small.position() + "|" + out.getStatus() + " "
                    + out.bytesConsumed() + " " + small.position() + "|" + EnginePair.text(pair.received);
        });
        check(prefix + "a target that is read-only is refused", "ReadOnlyBufferException: null", () -> {
            EnginePair pair = pair(context, version).handshake();
            return pair.client.wrap(EnginePair.bytes("hello"), pair.received.asReadOnlyBuffer());
        });
        check(prefix + "the client closes first", "OK NEED_WRAP false|CLOSED NOT_HANDSHAKING true| CLOSED|"
                + "CLOSED NOT_HANDSHAKING true|CLOSED NOT_HANDSHAKING 0|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            pair.client.closeOutbound();
            pair.client.closeOutbound();
            String closing = "OK " + pair.client.getHandshakeStatus() + " " + pair.client.isOutboundDone();
            SSLEngineResult closed = pair.wrap("late");
            String end = pair.runServer("");
            pair.server.closeOutbound();
            pair.runServer("");
            SSLEngineResult last = pair.unwrap();
            while (last.getStatus() == SSLEngineResult.Status.OK) {
                last = pair.unwrap();
            }
            pair.client.closeInbound();
            return closing + "|" + closed.getStatus() + " " + closed.getHandshakeStatus() + " " + pair.client.isOutboundDone()
                    + "|" + end + "|" + last.getStatus() + " " + last.getHandshakeStatus() + " " + pair.client.isInboundDone()
                    + "|" + line(pair.wrap("late")) + "|" + EnginePair.text(pair.received);
        });
        check(prefix + "the server closes first", "CLOSED NOT_HANDSHAKING true false|CLOSED NOT_HANDSHAKING true", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.server.closeOutbound();
            pair.runServer("");
            SSLEngineResult last = pair.unwrap();
            String found = last.getStatus() + " " + last.getHandshakeStatus() + " " + pair.client.isInboundDone() + " "
                    + pair.client.isOutboundDone();
            pair.client.closeOutbound();
            SSLEngineResult closed = pair.wrap();
            return found + "|" + closed.getStatus() + " " + closed.getHandshakeStatus() + " " + pair.client.isOutboundDone();
        });
        check(prefix + "an end without close_notify is an error",
                "SSLException: the transport has ended without close_notify of the peer", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.client.closeInbound();
            return "ended";
        });
        check(prefix + "a changed record is an error", "SSLException NETLIB_TLS_PROTOCOL", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            int last = pair.toClient.limit() - 1;
            pair.toClient.put(last, (byte) (pair.toClient.get(last) ^ 1));
            return line(pair.unwrap());
        });
        check(prefix + "a failed handshake sends an alert", "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, NEED_WRAP, "
                + "CLOSED NOT_HANDSHAKING 0, CLOSED NOT_HANDSHAKING 0, CLOSED NOT_HANDSHAKING 0, unknown_ca", () -> {
            EnginePair pair = pair(context(options("other-ca")), version);
            String found;
            try {
                return pair.handshake().statuses;
            } catch (SSLException refused) {
                found = describe(refused) + ", " + pair.client.getHandshakeStatus();
            }
            found += ", " + line(pair.wrap()) + ", " + line(pair.wrap()) + ", " + line(pair.unwrap());
            try {
                return found + ", " + pair.runServer("");
            } catch (SSLException alert) {
                return found + ", " + (alert.getMessage().contains("unknown_ca") ? "unknown_ca" : alert.getMessage());
            }
        });
    }

    private static void testFailures() {
        SSLContext context = context(options("ca"));
        check("the client changes its keys after the server has", "1100000, 2 records|hello|hello", () -> {
            EnginePair pair = pair(context, "TLSv1.3").handshake();
            int received = 0;
            for (int at = 0; at < 110; at++) {
                pair.runServer("x".repeat(10_000));
                while (pair.toClient.hasRemaining()) {
                    pair.unwrap();
                    received += EnginePair.text(pair.received).length();
                }
            }
            pair.wrap("hello");
            int records = 0;
            ByteBuffer wire = pair.toServer.duplicate();
            for (; wire.hasRemaining(); records++) {
                wire.position(wire.position() + 5 + wire.getShort(wire.position() + 3));
            }
            String request = pair.runServer("hello");
            pair.unwrap();
            return received + ", " + records + " records|" + request + "|" + EnginePair.text(pair.received);
        });
        for (String[] row : new String[][] {
            {"of HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", "NOT_TLS"},
            {"of another version", "\u0016\u0002\0\0", "NOT_TLS"},
            {"with a record of 65535 bytes", "\u0016\u0003\u0003\u00ff\u00ff", "TLS_PROTOCOL"},
        }) {
            check("an answer " + row[0], "SSLHandshakeException NETLIB_" + row[2], () -> {
                EnginePair pair = pair(context, "TLSv1.3");
                pair.wrap();
                pair.toClient = EnginePair.bytes(row[1]);
                return line(pair.unwrap());
            });
        }
        check("an engine that is closed before its start sends nothing", "true CLOSED NOT_HANDSHAKING 0", () -> {
            EnginePair pair = pair(context, "TLSv1.3");
            pair.client.closeOutbound();
            return pair.client.isOutboundDone() + " " + line(pair.wrap("data"));
        });
        check("a second handshake is refused", "SSLException: TLS has no second handshake", () -> {
            pair(context, "TLSv1.3").handshake().client.beginHandshake();
            return "begun";
        });
        check("the SNI name replaces the host", "true", () -> {
            EnginePair pair = pair(context, "TLSv1.3");
            SSLEngine client = context.createSSLEngine("other.test", 443);
            SSLParameters parameters = new SSLParameters();
            parameters.setServerNames(List.of(new SNIHostName("localhost")));
            client.setSSLParameters(parameters);
            ByteBuffer hello = ByteBuffer.allocate(1 << 15);
            client.wrap(EnginePair.bytes(""), hello);
            SSLParameters wanted = pair.server.getSSLParameters();
            wanted.setSNIMatchers(List.of(SNIHostName.createSNIMatcher("localhost")));
            pair.server.setSSLParameters(wanted);
            pair.toServer = hello.flip();
            pair.runServer("");
            return String.valueOf(pair.toClient.hasRemaining());
        });
    }

    private static void testSession() throws Exception {
        SSLContext context = context(options("ca"));
        SSLSession before = context.createSSLEngine("localhost", 443).getSession();
        check("the session before the handshake", "SSL_NULL_WITH_NULL_NULL NONE false localhost 443", () ->
                before.getCipherSuite() + " " + before.getProtocol() + " " + before.isValid() + " " + before.getPeerHost() + " "
                + before.getPeerPort());
        check("no certificate before the handshake", true, () -> {
            try {
                return before.getPeerPrincipal();
            } catch (SSLPeerUnverifiedException expected) {
                return true;
            }
        });
        check("the session lives after the connection", "TLSv1.3 CN=localhost true false", () -> {
            EnginePair pair = pair(context, "TLSv1.3").handshake();
            pair.client.closeOutbound();
            pair.wrap();
            try {
                pair.client.closeInbound();
            } catch (SSLException expected) {
                // The server has sent no close_notify.
            }
            SSLSession session = pair.client.getSession();
            String found = session.getProtocol() + " " + session.getPeerPrincipal() + " " + session.isValid();
            session.invalidate();
            return found + " " + session.isValid();
        });
        check("the values of a session", "[bound a, unbound a, bound a, unbound a] null", () -> {
            List<String> events = new ArrayList<>();
            SSLSessionBindingListener value = new SSLSessionBindingListener() {
                @Override
                public void valueBound(SSLSessionBindingEvent event) {
                    events.add("bound " + event.getName());
                }

                @Override
                public void valueUnbound(SSLSessionBindingEvent event) {
                    events.add("unbound " + event.getName());
                }
            };
            before.putValue("a", value);
            before.putValue("a", value);
            before.removeValue("a");
            return events + " " + before.getValue("a");
        });
    }
}
