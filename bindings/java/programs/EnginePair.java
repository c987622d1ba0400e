import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/** An engine of netlib and a server's engine of Java, with the bytes that are on the way. */
final class EnginePair {
    final SSLEngine client;
    final SSLEngine server;
    final List<HandshakeStatus> statuses = new ArrayList<>();
    int sentByServer;
    ByteBuffer toServer = ByteBuffer.allocate(0);
    ByteBuffer toClient = ByteBuffer.allocate(0);
    final ByteBuffer received = ByteBuffer.allocate(1 << 16);

    EnginePair(SSLContext context, SSLContext servers, String version) {
        client = context.createSSLEngine("localhost", 443);
        server = servers.createSSLEngine();
        server.setUseClientMode(false);
        SSLParameters parameters = server.getSSLParameters();
        parameters.setProtocols(new String[] {version});
        parameters.setApplicationProtocols(new String[] {"http/1.1", "h2"});
        server.setSSLParameters(parameters);
    }

    private static ByteBuffer join(ByteBuffer... parts) {
        int size = Arrays.stream(parts).mapToInt(ByteBuffer::remaining).sum();
        ByteBuffer joined = ByteBuffer.allocate(size);
        Arrays.stream(parts).forEach(joined::put);
        return joined.flip();
    }

    SSLEngineResult wrap(String... data) throws SSLException {
        ByteBuffer[] sources = Arrays.stream(data).map(EnginePair::bytes).toArray(ByteBuffer[]::new);
        ByteBuffer target = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
        SSLEngineResult result = client.wrap(sources, target);
        toServer = join(toServer, target.flip());
        return result;
    }

    SSLEngineResult unwrap() throws SSLException {
        return client.unwrap(toClient, received);
    }

    /** Wraps and unwraps on the server, until it needs something. Returns the text that it received. */
    String runServer(String answer) throws SSLException {
        ByteBuffer text = ByteBuffer.allocate(1 << 16);
        ByteBuffer source = bytes(answer);
        while (true) {
            SSLEngineResult result;
            HandshakeStatus needed = server.getHandshakeStatus();
            if (needed == HandshakeStatus.NEED_TASK) {
                server.getDelegatedTask().run();
                continue;
            }
            boolean reads = needed != HandshakeStatus.NEED_WRAP && toServer.hasRemaining();
            boolean writes = needed == HandshakeStatus.NEED_WRAP
                    || needed == HandshakeStatus.NOT_HANDSHAKING && source.hasRemaining();
            if (reads) {
                result = server.unwrap(toServer, text);
            } else if (writes) {
                ByteBuffer target = ByteBuffer.allocate(server.getSession().getPacketBufferSize());
                result = server.wrap(source, target);
                sentByServer += target.flip().remaining();
                toClient = join(toClient, target);
            } else {
                return text(text);
            }
            if (result.getStatus() != SSLEngineResult.Status.OK) {
                return text(text) + " " + result.getStatus();
            }
        }
    }

    /** Makes the handshake, and records the statuses of the client. */
    EnginePair handshake() throws SSLException {
        client.beginHandshake();
        statuses.add(client.getHandshakeStatus());
        for (int turn = 0; !statuses.contains(HandshakeStatus.FINISHED); turn++) {
            if (turn == 100) {
                throw new IllegalStateException("the handshake does not end: " + statuses);
            }
            SSLEngineResult result = statuses.get(statuses.size() - 1) == HandshakeStatus.NEED_WRAP ? wrap() : unwrap();
            if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
                runServer("");
            } else if (result.getHandshakeStatus() != statuses.get(statuses.size() - 1)) {
                statuses.add(result.getHandshakeStatus());
            }
        }
        runServer("");
        // The tickets of TLS 1.3.
        while (toClient.hasRemaining()) {
            unwrap();
        }
        return this;
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    static String text(ByteBuffer buffer) {
        String text = StandardCharsets.ISO_8859_1.decode(buffer.flip()).toString();
        buffer.clear();
        return text;
    }
}
