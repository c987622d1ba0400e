import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * A server with the TLS of Java. It answers each request of HTTP/1.1 or HTTP/2 with the body of the request, or with a
 * given body if the request has none.
 */
final class TlsServer implements AutoCloseable {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int WINDOW_UPDATE = 8;
    private static final int END_STREAM = 1;
    private static final int ACK = 1;
    private static final int END_HEADERS = 4;
    private static final int FRAME_SIZE = 16384;

    private final SSLServerSocket listener;
    private final byte[] answer;
    private final AtomicInteger requests = new AtomicInteger();

    TlsServer(SSLContext context, byte[] answer) throws IOException {
        this.answer = answer;
        listener = (SSLServerSocket) context.getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(() -> {
            while (true) {
                SSLSocket socket = (SSLSocket) listener.accept();
                start(() -> serve(socket));
            }
        });
    }

    /** Returns a context of Java with the certificate and the key of the files NAME.pem and NAME.key. */
    static SSLContext context(Path directory, String name) throws Exception {
        byte[] chain = Files.readAllBytes(directory.resolve(name + ".pem"));
        String pem = Files.readString(directory.resolve(name + ".key")).replaceAll("-----.*-----|\\s", "");
        Certificate certificate = CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(chain));
        PrivateKey key = KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", key, new char[0], new Certificate[] {certificate});
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    int port() {
        return listener.getLocalPort();
    }

    /** The number of requests that were received. */
    int requests() {
        return requests.get();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    interface Task {
        void run() throws IOException;
    }

    /** Runs a task in another thread, until its connection ends. */
    static void start(Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (IOException expected) {
                // The client has closed the connection, or the listener is closed.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(SSLSocket socket) throws IOException {
        try (socket) {
            socket.setHandshakeApplicationProtocolSelector((self, offered) ->
                    offered.contains("h2") ? "h2" : offered.contains("http/1.1") ? "http/1.1" : "");
            socket.startHandshake();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            if ("h2".equals(socket.getApplicationProtocol())) {
                serveHttp2(in, out);
            } else {
                serveHttp1(in, out);
            }
        }
    }

    private byte[] answer(byte[] body) {
        return body.length > 0 ? body : answer;
    }

    private void serveHttp1(DataInputStream in, DataOutputStream out) throws IOException {
        while (true) {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) in.readUnsignedByte());
            }
            String length = head.toString().toLowerCase().replaceAll("(?s).*\r\ncontent-length: (\\d+)\r\n.*", "$1");
            byte[] body = answer(in.readNBytes(length.matches("\\d+") ? Integer.parseInt(length) : 0));
            requests.incrementAndGet();
            out.writeBytes("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n");
            out.write(body);
            out.flush();
        }
    }

    private void serveHttp2(DataInputStream in, DataOutputStream out) throws IOException {
        in.readFully(new byte["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length()]);
        writeFrame(out, SETTINGS, 0, 0, new byte[0]);
        Map<Integer, ByteArrayOutputStream> bodies = new HashMap<>();
        while (true) {
            int length = in.readUnsignedShort() << 8 | in.readUnsignedByte();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int stream = in.readInt();
            byte[] payload = in.readNBytes(length);
            if ((type == SETTINGS || type == PING) && (flags & ACK) == 0) {
                writeFrame(out, type, ACK, 0, type == PING ? payload : new byte[0]);
            } else if (type == HEADERS) {
                bodies.put(stream, new ByteArrayOutputStream());
            } else if (type == DATA && length > 0) {
                bodies.get(stream).write(payload);
                writeFrame(out, WINDOW_UPDATE, 0, 0, bytes(length));
                writeFrame(out, WINDOW_UPDATE, 0, stream, bytes(length));
            }
            if ((type == HEADERS || type == DATA) && (flags & END_STREAM) != 0) {
                requests.incrementAndGet();
                byte[] body = answer(bodies.remove(stream).toByteArray());
                writeFrame(out, HEADERS, END_HEADERS, stream, new byte[] {(byte) 0x88}); // :status 200 (RFC 7541 appendix A)
                for (int at = 0; at < body.length; at += FRAME_SIZE) {
                    int end = Math.min(body.length, at + FRAME_SIZE);
                    byte[] part = java.util.Arrays.copyOfRange(body, at, end);
                    writeFrame(out, DATA, end == body.length ? END_STREAM : 0, stream, part);
                }
            }
            out.flush();
        }
    }

    private static byte[] bytes(int number) {
        return new byte[] {(byte) (number >> 24), (byte) (number >> 16), (byte) (number >> 8), (byte) number};
    }

    private static void writeFrame(DataOutputStream out, int type, int flags, int stream, byte[] payload) throws IOException {
        out.writeShort(payload.length >> 8);
        out.writeByte(payload.length);
        out.writeByte(type);
        out.writeByte(flags);
        out.writeInt(stream);
        out.write(payload);
    }
}
