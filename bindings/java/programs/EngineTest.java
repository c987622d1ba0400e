import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.AlgorithmConstraints;
import java.security.AlgorithmParameters;
import java.security.CryptoPrimitive;
import java.security.Key;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
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
import netlib.TlsOptions;
import netlib.VerifyMode;

/** Tests NetlibSslContext, with HttpClient and with engines in memory. Argument: the directory tests/certs. */
public final class EngineTest {
    private EngineTest() {}

    public static void main(String[] arguments) throws Exception {
        TestContexts.certificates = Path.of(arguments[0]);
        // The servers change the keys after 1 MiB in one direction.
        Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^20, ChaCha20-Poly1305 KeyUpdate 2^20");
        HttpClientTest.run();
        testSettings();
        for (String version : new String[] {"TLSv1.2", "TLSv1.3"}) {
            testMemory(version);
        }
        testThreads();
        testFailures();
        testSession();
        Checks.exit();
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

    private static final class NoConstraints implements AlgorithmConstraints {
        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, String algorithm, AlgorithmParameters parameters) {
            return true;
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, Key key) {
            return true;
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, String algorithm, Key key, AlgorithmParameters given) {
            return true;
        }

        @Override
        public String toString() {
            return "none";
        }
    }

    /** A server name that is no host name. */
    private static final class OtherName extends SNIServerName {
        OtherName() {
            super(1, new byte[] {1});
        }

        @Override
        public String toString() {
            return "type=1";
        }
    }

    private record RefusedSetting(String expected, Setting setting) {}

    private static void testSettings() {
        SSLContext context = TestContexts.client(TestContexts.options("ca").minimumVersion(netlib.TlsVersion.V1_3));
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
            new RefusedSetting("algorithm constraints none",
                    parameters(given -> given.setAlgorithmConstraints(new NoConstraints()))),
            new RefusedSetting("the server names [type=1]",
                    parameters(given -> given.setServerNames(List.of(new OtherName())))),
            new RefusedSetting("the maximum packet size 600", parameters(given -> given.setMaximumPacketSize(600))),
        }) {
            Checks.check("the setting is refused: " + row.expected(), cannot + row.expected(), () -> {
                row.setting().set(context.createSSLEngine("localhost", 443));
                return "accepted";
            });
        }
        Checks.check("a TLS context with application protocols is refused", "IllegalArgumentException: the TLS context has "
                + "application protocols, which SSLParameters choose for each engine",
                () -> TestContexts.client(TestContexts.options("ca").addAlpnProtocol("h2")));
        Checks.check("the default settings are accepted", "TLSv1.3 HTTPS 3", () -> {
            SSLParameters parameters = context.getDefaultSSLParameters();
            context.createSSLEngine().setSSLParameters(parameters);
            return String.join(",", parameters.getProtocols()) + " " + parameters.getEndpointIdentificationAlgorithm() + " "
                    + Arrays.stream(parameters.getCipherSuites()).filter(suite -> suite.startsWith("TLS_")).filter(
                            suite -> !suite.contains("_WITH_")).count();
        });
        testSettingsWithoutNames("checkHostname(false)", TestContexts.options("ca").checkHostname(false));
        testSettingsWithoutNames("VerifyMode.NONE", TlsOptions.make().verifyMode(VerifyMode.NONE));
        Checks.check("the settings are those that were set", "TLSv1.2 [h2] www.example", () -> {
            SSLEngine engine = TestContexts.client(TestContexts.options("ca")).createSSLEngine("example", 443);
            SSLParameters parameters = new SSLParameters(null, new String[] {"TLSv1.2", "TLSv1"});
            parameters.setApplicationProtocols(new String[] {"h2"});
            parameters.setServerNames(List.of(new SNIHostName("www.example")));
            engine.setSSLParameters(parameters);
            SSLParameters found = engine.getSSLParameters();
            return String.join(",", engine.getEnabledProtocols()) + " " + List.of(found.getApplicationProtocols()) + " "
                    + ((SNIHostName) found.getServerNames().get(0)).getAsciiName();
        });
        Checks.check("an engine without a name fails", "SSLHandshakeException NETLIB_INVALID_ARGUMENT", () -> {
            SSLEngine engine = context.createSSLEngine();
            engine.beginHandshake();
            return "begun";
        });
    }

    private static void testSettingsWithoutNames(String what, TlsOptions options) {
        SSLContext context = TestContexts.client(options);
        Checks.check(what + ": the default settings are accepted", null, () -> {
            SSLParameters parameters = context.getDefaultSSLParameters();
            context.createSSLEngine().setSSLParameters(parameters);
            return parameters.getEndpointIdentificationAlgorithm();
        });
        Checks.check(what + ": HTTPS is refused", HttpClientTest.HTTPS_REFUSED, () -> {
            parameters(given -> given.setEndpointIdentificationAlgorithm("HTTPS")).set(context.createSSLEngine());
            return "accepted";
        });
    }

    // Engines in memory.

    private static EnginePair pair(SSLContext context, String version) throws Exception {
        return new EnginePair(context, TestContexts.server("server"), version);
    }

    private static String line(SSLEngineResult result) {
        return result.getStatus() + " " + result.getHandshakeStatus() + " " + result.bytesConsumed();
    }

    private static void testMemory(String version) throws Exception {
        SSLContext context = TestContexts.client(TestContexts.options("ca"));
        String prefix = version + ": ";
        Checks.check(prefix + "the statuses of a handshake", "NOT_HANDSHAKING [NEED_WRAP, NEED_UNWRAP, "
                + (version.equals("TLSv1.3") ? "NEED_WRAP, NEED_UNWRAP, NEED_WRAP" : "NEED_WRAP, NEED_UNWRAP")
                + ", FINISHED] NOT_HANDSHAKING", () -> {
                    EnginePair pair = pair(context, version);
                    HandshakeStatus first = pair.client.getHandshakeStatus();
                    return first + " " + pair.handshake().statuses + " " + pair.client.getHandshakeStatus();
                });
        Checks.check(prefix + "wrap starts the handshake, and takes no data", "OK NEED_UNWRAP 0|OK NEED_UNWRAP 0", () -> {
            EnginePair pair = pair(context, version);
            return line(pair.wrap("early")) + "|" + line(pair.client.wrap(EnginePair.bytes("early"), ByteBuffer.allocate(0)));
        });
        Checks.check(prefix + "unwrap takes no data before the output is wrapped", "OK NEED_WRAP 0", () -> {
            EnginePair pair = pair(context, version);
            pair.toClient = EnginePair.bytes("early");
            return line(pair.unwrap());
        });
        Checks.check(prefix + "the application protocol", "null null h2 null http/1.1", () -> {
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
        Checks.check(prefix + "no application protocol is empty text", "",
                () -> pair(context, version).handshake().client.getApplicationProtocol());
        Checks.check(prefix + "several sources make one record", "OK NOT_HANDSHAKING 5|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            return line(pair.wrap("he", "", "llo")) + "|" + pair.runServer("");
        });
        Checks.check(prefix + "a record has at most 16384 bytes", "OK NOT_HANDSHAKING 16384", () -> {
            EnginePair pair = pair(context, version).handshake();
            SSLEngineResult result = pair.wrap("a".repeat(10_000), "b".repeat(10_000));
            pair.runServer("");
            return line(result);
        });
        Checks.check(prefix + "data fills several targets", "OK NOT_HANDSHAKING|he|llo", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            ByteBuffer small = ByteBuffer.allocate(2);
            ByteBuffer large = ByteBuffer.allocate(1 << 15);
            SSLEngineResult result = pair.client.unwrap(pair.toClient, new ByteBuffer[] {small, large});
            String texts = EnginePair.text(small) + "|" + EnginePair.text(large);
            return result.getStatus() + " " + result.getHandshakeStatus() + "|" + texts;
        });
        Checks.check(prefix + "a part of a record consumes nothing", "BUFFER_UNDERFLOW NOT_HANDSHAKING 0 everywhere|hello", () -> {
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
        Checks.check(prefix + "the next engine resumes the session, without the certificate", true, () -> {
            SSLContext own = TestContexts.client(TestContexts.options("ca"));
            int first = pair(own, version).handshake().sentByServer;
            EnginePair second = pair(own, version).handshake();
            return second.sentByServer < first - 500
                    && second.client.getSession().getPeerPrincipal().getName().equals("CN=localhost");
        });
        Checks.check(prefix + "small targets", "BUFFER_OVERFLOW 0 0|BUFFER_OVERFLOW 0 0|hello", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            ByteBuffer small = ByteBuffer.allocate(4);
            SSLEngineResult in = pair.client.unwrap(pair.toClient, small);
            SSLEngineResult out = pair.client.wrap(EnginePair.bytes("hello"), small);
            pair.unwrap();
            return in.getStatus() + " " + in.bytesConsumed() + " " + small.position() + "|" + out.getStatus() + " "
                    + out.bytesConsumed() + " " + small.position() + "|" + EnginePair.text(pair.received);
        });
        Checks.check(prefix + "a target that is read-only is refused", "ReadOnlyBufferException: null", () -> {
            EnginePair pair = pair(context, version).handshake();
            return pair.client.wrap(EnginePair.bytes("hello"), pair.received.asReadOnlyBuffer());
        });
        Checks.check(prefix + "the client closes first", "OK NEED_WRAP false|CLOSED NOT_HANDSHAKING true| CLOSED|"
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
        Checks.check(prefix + "the server closes first", "CLOSED NOT_HANDSHAKING true false|CLOSED NOT_HANDSHAKING true", () -> {
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
        Checks.check(prefix + "an end without close_notify is an error",
                "SSLException: the transport has ended without close_notify of the peer", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.client.closeInbound();
            return "ended";
        });
        Checks.check(prefix + "a changed record is an error", "SSLException NETLIB_TLS_PROTOCOL", () -> {
            EnginePair pair = pair(context, version).handshake();
            pair.runServer("hello");
            int last = pair.toClient.limit() - 1;
            pair.toClient.put(last, (byte) (pair.toClient.get(last) ^ 1));
            return line(pair.unwrap());
        });
        Checks.check(prefix + "a failed handshake sends an alert", "SSLHandshakeException NETLIB_CERTIFICATE_VERIFY, NEED_WRAP, "
                + "CLOSED NOT_HANDSHAKING 0, CLOSED NOT_HANDSHAKING 0, CLOSED NOT_HANDSHAKING 0, unknown_ca", () -> {
            EnginePair pair = pair(TestContexts.client(TestContexts.options("other-ca")), version);
            String found;
            try {
                return pair.handshake().statuses;
            } catch (SSLException refused) {
                found = Checks.describe(refused) + ", " + pair.client.getHandshakeStatus();
            }
            found += ", " + line(pair.wrap()) + ", " + line(pair.wrap()) + ", " + line(pair.unwrap());
            try {
                return found + ", " + pair.runServer("");
            } catch (SSLException alert) {
                return found + ", " + (alert.getMessage().contains("unknown_ca") ? "unknown_ca" : alert.getMessage());
            }
        });
    }

    private interface Call {
        void run(SSLEngine engine) throws SSLException;
    }

    /** Returns the state of a thread that uses an engine in use: BLOCKED, or TERMINATED if the thread does not wait. */
    private static Thread.State stateDuringUse(SSLEngine engine, Call call) {
        Thread thread = new Thread(() -> {
            try {
                call.run(engine);
            } catch (SSLException ended) {
                throw new IllegalStateException(ended);
            }
        });
        synchronized (engine) {
            thread.start();
            while (thread.getState() != Thread.State.BLOCKED && thread.getState() != Thread.State.TERMINATED) {
                Thread.onSpinWait();
            }
            return thread.getState();
        }
    }

    private static void testThreads() {
        SSLContext context = TestContexts.client(TestContexts.options("ca"));
        Call[] calls = {
            engine -> engine.wrap(ByteBuffer.allocate(0), ByteBuffer.allocate(1 << 15)),
            engine -> engine.unwrap(ByteBuffer.allocate(0), ByteBuffer.allocate(1 << 15)),
            SSLEngine::getHandshakeStatus,
            SSLEngine::closeOutbound,
            SSLEngine::isOutboundDone,
        };
        for (int at = 0; at < calls.length; at++) {
            Call call = calls[at];
            Checks.check("a thread waits while another uses the engine: call " + at, Thread.State.BLOCKED,
                    () -> stateDuringUse(pair(context, "TLSv1.3").handshake().client, call));
        }
    }

    private static void testFailures() {
        SSLContext context = TestContexts.client(TestContexts.options("ca"));
        Checks.check("the client changes its keys after the server has", "1100000, 2 records|hello|hello", () -> {
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
            Checks.check("an answer " + row[0], "SSLHandshakeException NETLIB_" + row[2], () -> {
                EnginePair pair = pair(context, "TLSv1.3");
                pair.wrap();
                pair.toClient = EnginePair.bytes(row[1]);
                return line(pair.unwrap());
            });
        }
        Checks.check("an engine that is closed before its start sends nothing", "true CLOSED NOT_HANDSHAKING 0", () -> {
            EnginePair pair = pair(context, "TLSv1.3");
            pair.client.closeOutbound();
            return pair.client.isOutboundDone() + " " + line(pair.wrap("data"));
        });
        Checks.check("a second handshake is refused", "SSLException: TLS has no second handshake", () -> {
            pair(context, "TLSv1.3").handshake().client.beginHandshake();
            return "begun";
        });
        Checks.check("the SNI name replaces the host", "true", () -> {
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
        SSLContext context = TestContexts.client(TestContexts.options("ca"));
        SSLSession before = context.createSSLEngine("localhost", 443).getSession();
        Checks.check("the session before the handshake", "SSL_NULL_WITH_NULL_NULL NONE false localhost 443", () ->
                before.getCipherSuite() + " " + before.getProtocol() + " " + before.isValid() + " " + before.getPeerHost() + " "
                + before.getPeerPort());
        Checks.check("no certificate before the handshake", true, () -> {
            try {
                return before.getPeerPrincipal();
            } catch (SSLPeerUnverifiedException expected) {
                return true;
            }
        });
        Checks.check("the session lives after the connection", "TLSv1.3 CN=localhost true false", () -> {
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
        Checks.check("the values of a session", "[bound a, unbound a, bound a, unbound a] null", () -> {
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
