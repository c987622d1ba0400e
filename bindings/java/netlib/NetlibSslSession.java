package netlib;

import java.io.ByteArrayInputStream;
import java.security.Principal;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionBindingEvent;
import javax.net.ssl.SSLSessionBindingListener;
import javax.net.ssl.SSLSessionContext;

/** The facts of a connection, which remain after the TLS engine is freed. */
final class NetlibSslSession implements SSLSession {
    private final String host;
    private final int port;
    private final String protocol;
    private final String cipherSuite;
    private final Certificate[] certificates;
    private final long created = System.currentTimeMillis();
    private final Map<String, Object> values = new ConcurrentHashMap<>();
    private volatile boolean isValid;

    /** The session before the handshake is done, with the values that Java specifies. */
    NetlibSslSession(String host, int port) {
        this.host = host;
        this.port = port;
        protocol = "NONE";
        cipherSuite = "SSL_NULL_WITH_NULL_NULL";
        certificates = new Certificate[0];
    }

    /** The session of an engine whose handshake is done. */
    NetlibSslSession(String host, int port, TlsEngine engine) throws CertificateException {
        this.host = host;
        this.port = port;
        protocol = engine.version() == TlsVersion.V1_3 ? "TLSv1.3" : "TLSv1.2";
        cipherSuite = engine.cipherSuite();
        certificates = new Certificate[Math.toIntExact(engine.peerCertificateCount())];
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        for (int at = 0; at < certificates.length; at++) {
            certificates[at] = factory.generateCertificate(new ByteArrayInputStream(engine.peerCertificate(at)));
        }
        isValid = true;
    }

    /** netlib does not tell the IDs of sessions. */
    @Override
    public byte[] getId() {
        return new byte[0];
    }

    @Override
    public SSLSessionContext getSessionContext() {
        return null;
    }

    @Override
    public long getCreationTime() {
        return created;
    }

    @Override
    public long getLastAccessedTime() {
        return created;
    }

    @Override
    public void invalidate() {
        isValid = false;
    }

    @Override
    public boolean isValid() {
        return isValid;
    }

    private void notifyListener(String name, Object value, boolean isBound) {
        if (value instanceof SSLSessionBindingListener listener) {
            SSLSessionBindingEvent event = new SSLSessionBindingEvent(this, name);
            if (isBound) {
                listener.valueBound(event);
            } else {
                listener.valueUnbound(event);
            }
        }
    }

    @Override
    public void putValue(String name, Object value) {
        if (name == null || value == null) {
            throw new IllegalArgumentException("the name and the value must not be null");
        }
        Object old = values.put(name, value);
        notifyListener(name, old, false);
        notifyListener(name, value, true);
    }

    @Override
    public Object getValue(String name) {
        if (name == null) {
            throw new IllegalArgumentException("the name must not be null");
        }
        return values.get(name);
    }

    @Override
    public void removeValue(String name) {
        if (name == null) {
            throw new IllegalArgumentException("the name must not be null");
        }
        notifyListener(name, values.remove(name), false);
    }

    @Override
    public String[] getValueNames() {
        return values.keySet().toArray(new String[0]);
    }

    @Override
    public Certificate[] getPeerCertificates() throws SSLPeerUnverifiedException {
        if (certificates.length == 0) {
            throw new SSLPeerUnverifiedException("the handshake is not done");
        }
        return certificates.clone();
    }

    /** netlib does not tell whether it has sent the local certificate. */
    @Override
    public Certificate[] getLocalCertificates() {
        return null;
    }

    @Override
    public Principal getPeerPrincipal() throws SSLPeerUnverifiedException {
        return ((X509Certificate) getPeerCertificates()[0]).getSubjectX500Principal();
    }

    @Override
    public Principal getLocalPrincipal() {
        return null;
    }

    @Override
    public String getCipherSuite() {
        return cipherSuite;
    }

    @Override
    public String getProtocol() {
        return protocol;
    }

    @Override
    public String getPeerHost() {
        return host;
    }

    @Override
    public int getPeerPort() {
        return port;
    }

    @Override
    public int getPacketBufferSize() {
        return TlsRecord.MAX_SIZE;
    }

    @Override
    public int getApplicationBufferSize() {
        return TlsRecord.MAX_DATA;
    }
}
