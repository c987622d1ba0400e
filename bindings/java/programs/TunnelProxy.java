import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A proxy that answers CONNECT, and passes the bytes of the tunnel. */
final class TunnelProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    TunnelProxy() throws IOException {
        TlsServer.start(() -> {
            while (true) {
                Socket socket = listener.accept();
                TlsServer.start(() -> serve(socket));
            }
        });
    }

    int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private static void serve(Socket client) throws IOException {
        StringBuilder head = new StringBuilder();
        DataInputStream in = new DataInputStream(client.getInputStream());
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.readUnsignedByte());
        }
        int port = Integer.parseInt(head.toString().replaceAll("(?s)CONNECT localhost:(\\d+) .*", "$1"));
        try (client; Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            TlsServer.start(() -> server.getInputStream().transferTo(client.getOutputStream()));
            in.transferTo(server.getOutputStream());
        }
    }
}
