package netlib;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.security.cert.CertificateException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/**
 * A client's engine. netlib's engine allows one call at a time, but HttpClient wraps and unwraps on two threads, so the
 * methods are synchronized. They compute, and never wait.
 */
final class NetlibSslEngine extends SSLEngine {
    private static final String HTTPS_WITHOUT_NAMES = "HTTPS, because its TLS context does not check host names. "
            + "HttpClient does not require HTTPS with -Djdk.internal.httpclient.disableHostnameVerification";

    private final NetlibSslContext.Spi context;
    private SSLParameters parameters = new SSLParameters();
    private List<String> versions;
    private SSLSession session;
    private String applicationProtocol;

    /** netlib's engine; null before the start, and after both directions have ended. */
    private TlsEngine tls;
    private boolean isStarted;
    private boolean isHandshakeDone;

    /** True after a result with FINISHED. */
    private boolean isFinishReported;
    private boolean isInboundDone;
    private boolean isOutboundClosed;

    NetlibSslEngine(NetlibSslContext.Spi context, String host, int port) {
        super(host, port);
        this.context = context;
        versions = context.versions();
        session = new NetlibSslSession(host, port);
    }

    // The handshake.

    @Override
    public synchronized void beginHandshake() throws SSLException {
        if (isStarted && !isHandshakeDone) {
            return;
        }
        if (isStarted) {
            throw new SSLException("TLS has no second handshake");
        }
        if (isOutboundClosed || isInboundDone) {
            throw new SSLException("the engine is closed");
        }
        isStarted = true;
        try {
            String[] protocols = parameters.getApplicationProtocols();
            TlsContext settings = context.context(new NetlibSslContext.Settings(List.of(protocols), versions));
            tls = TlsEngine.newClient(settings, serverName());
        } catch (NetlibException | IllegalStateException failed) {
            throw fail(failed);
        }
        handshake();
    }

    /** The name that the server must prove, which netlib also sends as SNI. */
    private String serverName() {
        List<SNIServerName> names = parameters.getServerNames();
        return names == null || names.isEmpty() ? getPeerHost() : ((SNIHostName) names.get(0)).getAsciiName();
    }

    private void handshake() throws SSLException {
        try {
            if (tls.handshake() != netlib.Status.OK) {
                return;
            }
            session = new NetlibSslSession(getPeerHost(), getPeerPort(), tls);
            applicationProtocol = Objects.requireNonNullElse(tls.alpnProtocol(), "");
            isHandshakeDone = true;
        } catch (NetlibException failed) {
            throw fail(failed);
        } catch (CertificateException failed) {
            throw fail(failed);
        }
    }

    /** Ends both directions. The output may still have an alert for the peer. */
    private SSLException fail(Exception cause) {
        SSLException failure = isHandshakeDone
                ? new SSLException(cause.getMessage(), cause)
                : (SSLException) new SSLHandshakeException(cause.getMessage()).initCause(cause);
        isInboundDone = true;
        isOutboundClosed = true;
        release();
        return failure;
    }

    /** Frees netlib's engine when both directions have ended. */
    private void release() {
        if (tls != null && isInboundDone && isOutboundDone()) {
            tls.close();
            tls = null;
        }
    }

    private int pending() {
        return tls == null ? 0 : Math.toIntExact(tls.outputPending());
    }

    @Override
    public synchronized HandshakeStatus getHandshakeStatus() {
        if (pending() > 0) {
            return HandshakeStatus.NEED_WRAP;
        }
        boolean waits = isStarted && !isHandshakeDone && !isInboundDone && !isOutboundClosed;
        return waits ? HandshakeStatus.NEED_UNWRAP : HandshakeStatus.NOT_HANDSHAKING;
    }

    private SSLEngineResult result(Status status, int consumed, int produced) {
        HandshakeStatus handshake = getHandshakeStatus();
        boolean isIdle = isHandshakeDone && handshake == HandshakeStatus.NOT_HANDSHAKING && status == Status.OK;
        if (isIdle && !isFinishReported) {
            isFinishReported = true;
            handshake = HandshakeStatus.FINISHED;
        }
        release();
        return new SSLEngineResult(status, handshake, consumed, produced);
    }

    /** The verification of a certificate takes less than a millisecond, so it is part of unwrap. */
    @Override
    public Runnable getDelegatedTask() {
        return null;
    }

    // The output.

    @Override
    public synchronized SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target)
            throws SSLException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        checkWritable(target);
        if (isOutboundDone()) {
            return result(Status.CLOSED, 0, 0);
        }
        if (!isStarted) {
            beginHandshake();
        }
        if (pending() == 0 && !isHandshakeDone) {
            return result(Status.OK, 0, 0);
        }
        if (target.remaining() < TlsRecord.MAX_SIZE) {
            return result(Status.BUFFER_OVERFLOW, 0, 0);
        }
        try {
            int consumed = pending() > 0 ? 0 : write(Arrays.asList(sources).subList(offset, offset + length));
            byte[] output = new byte[Math.min(pending(), target.remaining())];
            tls.drain(output);
            target.put(output);
            return result(isOutboundDone() ? Status.CLOSED : Status.OK, consumed, output.length);
        } catch (NetlibException failed) {
            throw fail(failed);
        }
    }

    /** Encrypts the data of one record. Returns the number of bytes that it has taken from the sources. */
    private int write(List<ByteBuffer> sources) {
        long available = sources.stream().mapToLong(ByteBuffer::remaining).sum();
        byte[] data = new byte[(int) Math.min(available, TlsRecord.MAX_DATA)];
        ByteBuffer copy = ByteBuffer.wrap(data);
        for (ByteBuffer source : sources) {
            copy.put(source.duplicate().limit(source.position() + Math.min(source.remaining(), copy.remaining())));
        }
        int written = data.length == 0 ? 0 : (int) tls.write(data).n();
        int left = written;
        for (ByteBuffer source : sources) {
            int taken = Math.min(left, source.remaining());
            source.position(source.position() + taken);
            left -= taken;
        }
        return written;
    }

    @Override
    public synchronized void closeOutbound() {
        if (!isOutboundClosed) {
            isOutboundClosed = true;
            if (tls != null && isHandshakeDone) {
                tls.shutdown();
            }
            release();
        }
    }

    @Override
    public synchronized boolean isOutboundDone() {
        return isOutboundClosed && pending() == 0;
    }

    // The input.

    @Override
    public synchronized SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length)
            throws SSLException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        List<ByteBuffer> room = Arrays.asList(targets).subList(offset, offset + length);
        room.forEach(NetlibSslEngine::checkWritable);
        if (isInboundDone) {
            return result(Status.CLOSED, 0, 0);
        }
        if (!isStarted) {
            beginHandshake();
        }
        if (!isFinishReported && pending() > 0) {
            return result(Status.OK, 0, 0);
        }
        int size = TlsRecord.size(source);
        if (size <= 0) {
            return result(Status.BUFFER_UNDERFLOW, 0, 0);
        }
        long available = room.stream().mapToLong(ByteBuffer::remaining).sum();
        int most = Math.min(size, TlsRecord.MAX_DATA);
        if (isHandshakeDone && available < most) {
            return result(Status.BUFFER_OVERFLOW, 0, 0);
        }
        byte[] record = new byte[size];
        source.get(record);
        try {
            int produced = 0;
            if (!isHandshakeDone) {
                feedHandshake(record);
            } else {
                feed(record);
                produced = read(room, most);
            }
            return result(isInboundDone ? Status.CLOSED : Status.OK, size, produced);
        } catch (NetlibException failed) {
            throw fail(failed);
        }
    }

    /** Continues the handshake with the bytes of a record. */
    private void feedHandshake(byte[] record) throws SSLException {
        int fed = 0;
        while (fed < record.length) {
            int n = (int) tls.feed(Arrays.copyOfRange(record, fed, record.length));
            handshake();
            if (n == 0) {
                throw new IllegalStateException("the TLS engine has no room for a record");
            }
            fed += n;
        }
    }

    private void feed(byte[] record) {
        if (tls.feed(record) < record.length) {
            throw new IllegalStateException("the TLS engine has no room for a record");
        }
    }

    /** Moves the data of one record, at most `most` bytes, to the targets. Returns the number of bytes. */
    private int read(List<ByteBuffer> targets, int most) {
        byte[] data = new byte[most];
        var read = tls.read(data);
        isInboundDone = read.status() == netlib.Status.END_OF_STREAM;
        ByteBuffer left = ByteBuffer.wrap(data, 0, (int) read.n());
        for (ByteBuffer target : targets) {
            int n = Math.min(left.remaining(), target.remaining());
            target.put(left.slice(left.position(), n));
            left.position(left.position() + n);
        }
        return (int) read.n();
    }

    private static void checkWritable(ByteBuffer target) {
        if (target == null) {
            throw new IllegalArgumentException("a target is null");
        }
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
    }

    @Override
    public synchronized void closeInbound() throws SSLException {
        if (isInboundDone) {
            return;
        }
        isInboundDone = true;
        boolean isTruncated = tls != null;
        release();
        if (isTruncated) {
            throw new SSLException("the transport has ended without close_notify of the peer");
        }
    }

    @Override
    public synchronized boolean isInboundDone() {
        return isInboundDone;
    }

    // The settings.

    @Override
    public synchronized SSLParameters getSSLParameters() {
        SSLParameters copy = new SSLParameters(getEnabledCipherSuites(), getEnabledProtocols());
        copy.setApplicationProtocols(parameters.getApplicationProtocols());
        copy.setServerNames(parameters.getServerNames());
        copy.setEndpointIdentificationAlgorithm(context.checksHostname() ? "HTTPS" : null);
        return copy;
    }

    @Override
    public synchronized void setSSLParameters(SSLParameters wanted) {
        String algorithm = wanted.getEndpointIdentificationAlgorithm();
        boolean isNone = algorithm == null || algorithm.isEmpty();
        boolean isHttps = "HTTPS".equals(algorithm);
        refuse(!isNone && !isHttps, "the endpoint identification", algorithm);
        refuse(isHttps && !context.checksHostname(), "the endpoint identification", HTTPS_WITHOUT_NAMES);
        refuse(wanted.getAlgorithmConstraints() != null, "algorithm constraints", wanted.getAlgorithmConstraints());
        refuse(wanted.getMaximumPacketSize() != 0, "the maximum packet size", wanted.getMaximumPacketSize());
        List<SNIServerName> names = wanted.getServerNames() == null ? List.of() : wanted.getServerNames();
        refuse(!names.stream().allMatch(SNIHostName.class::isInstance), "the server names", names);
        super.setSSLParameters(wanted);
        parameters = new SSLParameters();
        parameters.setApplicationProtocols(wanted.getApplicationProtocols());
        parameters.setServerNames(names);
    }

    private static void refuse(boolean isRefused, String what, Object value) {
        if (isRefused) {
            throw new IllegalArgumentException("an engine of netlib cannot have " + what + " " + value);
        }
    }

    @Override
    public String[] getSupportedProtocols() {
        return context.versions().toArray(new String[0]);
    }

    @Override
    public synchronized String[] getEnabledProtocols() {
        return versions.toArray(new String[0]);
    }

    @Override
    public synchronized void setEnabledProtocols(String[] wanted) {
        List<String> left = context.versions().stream().filter(Arrays.asList(wanted)::contains).toList();
        refuse(left.isEmpty(), "only the protocols", Arrays.toString(wanted));
        versions = left;
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return context.cipherSuites().toArray(new String[0]);
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return getSupportedCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        refuse(!context.cipherSuites().equals(Arrays.asList(suites)), "other cipher suites than its TLS context:",
                Arrays.toString(suites));
    }

    @Override
    public void setUseClientMode(boolean isClient) {
        refuse(!isClient, "the mode", "server");
    }

    @Override
    public boolean getUseClientMode() {
        return true;
    }

    @Override
    public void setNeedClientAuth(boolean isNeeded) {
        refuse(isNeeded, "client authentication", "of a server");
    }

    @Override
    public boolean getNeedClientAuth() {
        return false;
    }

    @Override
    public void setWantClientAuth(boolean isWanted) {
        refuse(isWanted, "client authentication", "of a server");
    }

    @Override
    public boolean getWantClientAuth() {
        return false;
    }

    @Override
    public void setEnableSessionCreation(boolean isEnabled) {
        refuse(!isEnabled, "only", "resumed sessions");
    }

    @Override
    public boolean getEnableSessionCreation() {
        return true;
    }

    // The results of the handshake.

    @Override
    public synchronized SSLSession getSession() {
        return session;
    }

    @Override
    public synchronized String getApplicationProtocol() {
        return applicationProtocol;
    }

    @Override
    public synchronized String getHandshakeApplicationProtocol() {
        return isFinishReported ? null : applicationProtocol;
    }
}
