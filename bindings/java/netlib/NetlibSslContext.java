package netlib;

import java.security.Provider;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;

/**
 * An {@link SSLContext} whose TLS is netlib's, for {@code java.net.http.HttpClient} and other clients that use an
 * {@link SSLEngine}:
 *
 * <pre>{@code HttpClient.newBuilder().sslContext(new NetlibSslContext(tls)).build()}</pre>
 *
 * <p>The {@link TlsContext} decides which peers are trusted: its authorities, pins, CRLs and host name check apply to
 * every connection. {@link SSLParameters} choose the application protocols, and may exclude TLS versions. The name of a
 * server is the SNI name of the parameters, else the host of the engine. An engine refuses other settings that netlib
 * would not follow, such as other cipher suites, algorithm constraints, or client authentication. netlib ignores the
 * named groups and signature schemes of the parameters, and checks the host name even without an endpoint
 * identification algorithm.
 *
 * <p>If the TLS context checks no host names, as with {@code checkHostname(false)} or
 * {@code verifyMode(VerifyMode.NONE)}, an engine refuses the endpoint identification "HTTPS" with an
 * {@link IllegalArgumentException}. {@code HttpClient} requires "HTTPS", unless Java runs with the option
 * {@code -Djdk.internal.httpclient.disableHostnameVerification}. With this option, an {@code HttpClient} with Java's
 * own TLS checks no host names either.
 *
 * <p>netlib has a TLS context for each choice of application protocols and TLS versions. The constructor makes the
 * contexts for no protocol, "http/1.1", and "h2" with "http/1.1", with all versions. The first handshake with another
 * choice reads the files and the environment of the TLS context again, and fails if their content has changed. So all
 * engines trust the same peers.
 *
 * <p>A handshake that fails throws a {@link javax.net.ssl.SSLHandshakeException}, whose cause is a
 * {@link NetlibException}. The context has no sockets and no servers. Threads may share the context.
 */
public final class NetlibSslContext extends SSLContext {
    /**
     * Makes a context. Reads the files and the environment of the TLS context again.
     *
     * @param context the TLS context, which may be closed afterwards
     * @throws IllegalArgumentException if the TLS context has application protocols
     * @throws IllegalStateException if the content of the files or the environment has changed since the TLS context
     *         was made
     * @throws NetlibException if a file cannot be read
     */
    public NetlibSslContext(TlsContext context) {
        super(new Spi(context), new NetlibProvider(), "TLS");
    }

    /** {@link SSLContext#getProvider} must not return null. The provider offers no services. */
    private static final class NetlibProvider extends Provider {
        private static final long serialVersionUID = 1;

        NetlibProvider() {
            super("netlib", Netlib.version(), "TLS of netlib");
        }
    }

    /** The settings of an engine that belong to a TLS context in netlib. */
    record Settings(List<String> applicationProtocols, List<String> versions) {}

    /** Makes the engines. */
    static final class Spi extends SSLContextSpi {
        private static final List<List<String>> COMMON_PROTOCOLS =
                List.of(List.of("http/1.1"), List.of("h2", "http/1.1"));
        private final TlsContext base;
        private final List<String> versions;
        private final List<String> cipherSuites;
        private final Map<Settings, TlsContext> contexts = new ConcurrentHashMap<>();

        Spi(TlsContext context) {
            if (context.alpnProtocolCount() > 0) {
                throw new IllegalArgumentException(
                        "the TLS context has application protocols, which SSLParameters choose for each engine");
            }
            base = context.copy();
            boolean hasOld = base.minimumVersion() == TlsVersion.V1_2;
            boolean hasNew = base.maximumVersion() == TlsVersion.V1_3;
            versions = hasOld && hasNew ? List.of("TLSv1.3", "TLSv1.2") : List.of(hasNew ? "TLSv1.3" : "TLSv1.2");
            String[] suites = new String[Math.toIntExact(base.cipherSuiteCount())];
            Arrays.setAll(suites, base::cipherSuite);
            cipherSuites = List.of(suites);
            contexts.put(new Settings(List.of(), versions), base);
            for (List<String> protocols : COMMON_PROTOCOLS) {
                Settings settings = new Settings(protocols, versions);
                contexts.put(settings, makeContext(settings));
            }
            checkUnchanged();
        }

        /** The TLS versions of the context, the newest first, with the names of Java. */
        List<String> versions() {
            return versions;
        }

        boolean checksHostname() {
            return base.checkHostname();
        }

        List<String> cipherSuites() {
            return cipherSuites;
        }

        /**
         * Returns the TLS context with other settings. Engines with the same settings share the sessions.
         *
         * @throws IllegalStateException if the TLS context would differ from the base in other settings
         */
        TlsContext context(Settings settings) {
            return contexts.computeIfAbsent(settings, wanted -> {
                TlsContext made = makeContext(wanted);
                checkUnchanged();
                return made;
            });
        }

        private TlsContext makeContext(Settings settings) {
            try (TlsOptions options = base.toOptions()) {
                settings.applicationProtocols().forEach(options::addAlpnProtocol);
                if (!settings.versions().equals(versions)) {
                    var only = settings.versions().contains("TLSv1.3") ? TlsVersion.V1_3 : TlsVersion.V1_2;
                    options.minimumVersion(only).maximumVersion(only);
                }
                return TlsContext.make(options);
            }
        }

        /** Checks that the options of the base still make an equal context. The digest covers the content of files. */
        private void checkUnchanged() {
            try (TlsOptions options = base.toOptions(); TlsContext again = TlsContext.make(options)) {
                String digest = again.digest();
                if (digest == null || !digest.equals(base.digest())) {
                    throw new IllegalStateException("the files or the environment of the TLS context have changed");
                }
            }
        }

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random) {
            throw new IllegalStateException("the TLS context has been set");
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            return new NetlibSslEngine(this, null, -1);
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return new NetlibSslEngine(this, host, port);
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return engineCreateSSLEngine().getSSLParameters();
        }

        @Override
        protected SSLParameters engineGetSupportedSSLParameters() {
            return engineGetDefaultSSLParameters();
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            throw new UnsupportedOperationException("netlib's SSLContext has engines, but no sockets");
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            throw new UnsupportedOperationException("netlib's SSLContext has engines, but no sockets");
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return null;
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return null;
        }
    }
}
