import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import netlib.NetlibSslContext;
import netlib.TlsContext;
import netlib.TlsOptions;

/** The contexts of the tests' clients and servers. */
final class TestContexts {
    /** The directory tests/certs. */
    static Path certificates;
    private static final Map<String, SSLContext> SERVERS = new HashMap<>();

    private TestContexts() {}

    /** Returns Java's context of a server. */
    static SSLContext server(String certificate) throws Exception {
        if (!SERVERS.containsKey(certificate)) {
            SERVERS.put(certificate, TlsServer.context(certificates, certificate));
        }
        return SERVERS.get(certificate);
    }

    /** Returns options that trust one authority. */
    static TlsOptions options(String authority) {
        return TlsOptions.make().addCaFile(certificates.resolve(authority + ".pem").toString());
    }

    static SSLContext client(TlsOptions options) {
        try (TlsContext tls = TlsContext.make(options)) {
            return new NetlibSslContext(tls);
        }
    }
}
