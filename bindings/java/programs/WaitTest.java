import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import netlib.Attempts;
import netlib.Connect;
import netlib.ConnectOptions;
import netlib.Decision;
import netlib.Limit;
import netlib.Netlib;
import netlib.NetlibException;
import netlib.Outcome;
import netlib.Response;
import netlib.Retry;
import netlib.RetryOptions;
import netlib.Status;
import netlib.Stream;
import netlib.TlsContext;
import netlib.Url;

/** Tests calls that wait: interrupts, close from another thread, virtual threads, and the streams of java.io. */
final class WaitTest {
    private static final int MANY = 50;

    /** Ends a test that would wait forever. No test needs that long. */
    private static final double AT_MOST = 30;

    private WaitTest() {}

    /** A local server, which answers nothing by itself. */
    private static final class Peer implements AutoCloseable {
        final ServerSocket socket = new ServerSocket(0, 2 * MANY, InetAddress.getLoopbackAddress());

        Peer() throws IOException {}

        Url url(String scheme) {
            return Netlib.parseUrl(scheme + "://127.0.0.1:" + socket.getLocalPort() + "/");
        }

        Stream connect() {
            return Stream.connect(url("http"), null, null, Limit.make(AT_MOST, null)).stream();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Something that a thread does. */
    private interface Action {
        Object run() throws Exception;
    }

    /** Runs an action on a new thread, and tells its result, or its exception and whether the thread is interrupted. */
    private static FutureTask<String> start(boolean isVirtual, Action action) throws ReflectiveOperationException {
        FutureTask<String> task = new FutureTask<>(() -> {
            try {
                return String.valueOf(action.run());
            } catch (NetlibException failed) {
                return failed.status() + " " + failed.getMessage() + " " + Thread.currentThread().isInterrupted();
            } catch (Exception failed) {
                return failed.getClass().getSimpleName() + ": " + failed.getMessage() + " "
                        + Thread.currentThread().isInterrupted();
            }
        });
        if (isVirtual) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } else {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        }
        return task;
    }

    private static boolean hasVirtualThreads() {
        return Runtime.version().feature() >= 21;
    }

    private static Decision waitingDecision(RetryOptions options) {
        Response response = Response.parse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 20\r\n\r\n", null).response();
        return Retry.make(options).decide("GET", Netlib.parseUrl("http://a/"), response, null, null);
    }

    static void run() {
        for (boolean isVirtual : hasVirtualThreads() ? new boolean[] {false, true} : new boolean[] {false}) {
            interrupts(isVirtual ? "virtual: " : "platform: ", isVirtual);
        }
        closes();
        limits();
        streams();
        if (hasVirtualThreads()) {
            virtualThreads();
        } else {
            System.out.println("note: Java " + Runtime.version().feature() + " has no virtual threads");
        }
    }

    // Interrupts.

    /** Interrupts an action that tells that it is about to wait. */
    private static String interrupted(boolean isVirtual, Waiter waiter) throws Exception {
        CountDownLatch begins = new CountDownLatch(1);
        Thread[] thread = new Thread[1];
        FutureTask<String> task = start(isVirtual, () -> {
            thread[0] = Thread.currentThread();
            return waiter.run(begins);
        });
        begins.await();
        thread[0].interrupt();
        return task.get(60, TimeUnit.SECONDS);
    }

    private interface Waiter {
        Object run(CountDownLatch begins) throws Exception;
    }

    private static void interrupts(String kind, boolean isVirtual) {
        String expected = "INTERRUPTED the thread was interrupted true";
        Checks.check(kind + "an interrupt ends a read", expected, () -> {
            try (Peer peer = new Peer(); Stream stream = peer.connect(); Socket accepted = peer.socket.accept()) {
                accepted.getOutputStream().write(1);
                return interrupted(isVirtual, begins -> {
                    stream.read(new byte[1]);
                    begins.countDown();
                    return stream.read(new byte[1]);
                });
            }
        });
        Checks.check(kind + "an interrupt ends a sleep with a limit", expected, () -> {
            Decision decision = waitingDecision(RetryOptions.newRecommended());
            return interrupted(isVirtual, begins -> {
                begins.countDown();
                decision.sleep(Limit.make(AT_MOST, null));
                return "slept";
            });
        });
        Checks.check(kind + "an interrupt ends a sleep without a limit", expected, () -> {
            Decision decision = waitingDecision(RetryOptions.newRecommended());
            return interrupted(isVirtual, begins -> {
                begins.countDown();
                decision.sleep(null);
                return "slept";
            });
        });
        Checks.check(kind + "an interrupt before the call ends the call", expected, () -> start(isVirtual, () -> {
            Thread.currentThread().interrupt();
            waitingDecision(RetryOptions.newRecommended()).sleep(null);
            return "slept";
        }).get(60, TimeUnit.SECONDS));
        Checks.check(kind + "an interrupt ends the wait between attempts", expected, () -> {
            Attempts attempts =
                    Attempts.make(Retry.recommended(), "GET", Netlib.parseUrl("http://a/"), null, false, null);
            Response response = Response.parse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 20\r\n\r\n", null).response();
            return interrupted(isVirtual, begins -> {
                begins.countDown();
                return attempts.next(response, null);
            });
        });
        Checks.check(kind + "an interrupt ends a wait after a callback that waited itself", expected, () -> {
            try (Peer mute = new Peer(); Peer other = new Peer(); Stream stream = other.connect();
                    Socket accepted = other.socket.accept(); TlsContext tls = TlsContext.make(null)) {
                accepted.getOutputStream().write(1);
                ConnectOptions options = ConnectOptions.make().addressCallback((address, classes) -> {
                    stream.read(new byte[1]);
                    return netlib.Verdict.ALLOW;
                });
                return interrupted(isVirtual, begins -> {
                    start(false, () -> {
                        int first = mute.socket.accept().getInputStream().read(); // of the ClientHello
                        begins.countDown();
                        return first;
                    });
                    return Stream.connect(mute.url("https"), tls, options, Limit.make(AT_MOST, null)).stream();
                });
            }
        });
        Checks.check(kind + "an interrupt of a callback is its own exception", "InterruptedException", () -> {
            return interrupted(isVirtual, begins -> {
                waitingDecision(RetryOptions.newRecommended().sleep(seconds -> {
                    begins.countDown();
                    Thread.sleep(20_000);
                    return Outcome.DONE;
                })).sleep(null);
                return "slept";
            }).split(":")[0];
        });
    }

    // Closing.

    private static void closes() {
        String expected = "IllegalStateException: Stream is closed false";
        Checks.check("closing a stream ends a read of another thread", expected, () -> {
            try (Peer peer = new Peer()) {
                Stream stream = peer.connect();
                Socket accepted = peer.socket.accept();
                accepted.getOutputStream().write(1);
                CountDownLatch begins = new CountDownLatch(1);
                FutureTask<String> task = start(false, () -> {
                    stream.read(new byte[1]);
                    begins.countDown();
                    return stream.read(new byte[1]);
                });
                begins.await();
                stream.close();
                String result = task.get(60, TimeUnit.SECONDS);
                int end = accepted.getInputStream().read(); // the descriptor is closed
                return result + (end < 0 ? "" : " the connection is open");
            }
        });
        Checks.check("closing a stream that its callback closes ends the read", expected, () -> {
            Stream[] stream = new Stream[1];
            stream[0] = Stream.newCallbacks(buffer -> {
                stream[0].close();
                throw new netlib.Progress(Status.WANT_READ);
            }, bytes -> 0);
            FutureTask<String> task = start(false, () -> {
                stream[0].read(new byte[1]);
                return stream[0].read(new byte[1]);
            });
            return task.get(60, TimeUnit.SECONDS);
        });
    }

    // Limits.

    private static void limits() {
        Checks.check("an interrupted stream works again with a new limit", "INTERRUPTED CANCELLED 1", () -> {
            try (Peer peer = new Peer(); Stream stream = peer.connect(); Socket accepted = peer.socket.accept()) {
                String found = "";
                Thread.currentThread().interrupt();
                for (int i = 0; i < 2; i++) {
                    try {
                        stream.read(new byte[1]);
                    } catch (NetlibException failed) {
                        found += failed.status() + " ";
                    }
                    Thread.interrupted();
                }
                stream.setLimit(null);
                accepted.getOutputStream().write(1);
                return found + stream.read(new byte[1]).n();
            }
        });
        Checks.check("the limit of the application ends the read of a stream", "CANCELLED", () -> {
            try (Peer peer = new Peer(); Stream stream = peer.connect()) {
                Limit limit = Limit.make(AT_MOST, null);
                stream.setLimit(limit);
                limit.cancel();
                try {
                    return stream.read(new byte[1]);
                } catch (NetlibException failed) {
                    return failed.status().name();
                }
            }
        });
        Checks.check("an interrupt does not end the limit of the application", "INTERRUPTED OK", () -> {
            Limit limit = Limit.make(AT_MOST, null);
            Thread.currentThread().interrupt();
            try {
                waitingDecision(RetryOptions.newRecommended()).sleep(limit);
            } catch (NetlibException failed) {
                limit.check();
                return failed.status() + " OK";
            } finally {
                Thread.interrupted();
            }
            return "slept";
        });
        Checks.check("attempts return the limit of the application", "CANCELLED null", () -> {
            Limit limit = Limit.make(AT_MOST, null);
            Url url = Netlib.parseUrl("http://a/");
            Attempts attempts = Attempts.make(Retry.recommended(), "GET", url, null, false, limit);
            attempts.limit().cancel();
            Attempts unlimited = Attempts.make(Retry.recommended(), "GET", url, null, false, null);
            try {
                limit.check();
            } catch (NetlibException failed) {
                return failed.status() + " " + unlimited.limit();
            }
            return "not cancelled";
        });
        Checks.check("a connect without a limit keeps the earlier one", "CANCELLED", () -> {
            try (Peer peer = new Peer(); Limit limit = Limit.make(AT_MOST, null)) {
                Connect connect = Connect.make("127.0.0.1", peer.socket.getLocalPort(), null);
                connect.setLimit(limit);
                limit.cancel();
                try {
                    return connect.run(null);
                } catch (NetlibException failed) {
                    return failed.status().name();
                }
            }
        });
    }

    // java.io.

    private static void streams() {
        Checks.check("the input and the output of a stream carry the bytes", "hello|\u00e9 world", () -> {
            try (Peer peer = new Peer(); Stream stream = peer.connect(); Socket accepted = peer.socket.accept()) {
                OutputStream out = stream.outputStream();
                out.write("-hello-".getBytes(StandardCharsets.US_ASCII), 1, 5);
                out.write('|');
                byte[] sent = accepted.getInputStream().readNBytes(6);
                accepted.getOutputStream().write("\u00e9 world".getBytes(StandardCharsets.UTF_8));
                accepted.shutdownOutput();
                InputStream in = stream.inputStream();
                byte[] received = {(byte) in.read(), (byte) in.read()};
                String rest = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                return new String(sent, StandardCharsets.US_ASCII) + new String(received,
                        StandardCharsets.UTF_8) + rest;
            }
        });
        Checks.check("the body of a response is decoded, and the next response follows", "hello 204", () -> {
            String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
            try (Peer peer = new Peer(); Stream stream = peer.connect(); Socket accepted = peer.socket.accept()) {
                accepted.getOutputStream().write((head + "HTTP/1.1 204 None\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                String body;
                try (InputStream in = stream.bodyInputStream(stream.readResponse("GET").response())) {
                    body = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
                }
                return body + " " + stream.readResponse("GET").response().status();
            }
        });
        Checks.check("a time limit is a SocketTimeoutException", SocketTimeoutException.class, () -> failure(stream -> {
            stream.setReadTimeout(0.01);
            return stream.inputStream().read();
        }));
        Checks.check("an interrupt is an InterruptedIOException", InterruptedIOException.class,
                () -> failure(stream -> {
            Thread.currentThread().interrupt();
            return stream.inputStream().read();
        }));
        Checks.check("a read of a closed stream is an IOException", IOException.class, () -> failure(stream -> {
            InputStream in = stream.inputStream();
            in.close();
            return in.read();
        }));
        Checks.check("a read without data of a stream that does not block is an IOException", IOException.class,
                () -> failure(stream -> {
                    stream.setBlocking(false);
                    return stream.inputStream().read();
                }));
    }

    private interface Use {
        Object run(Stream stream) throws Exception;
    }

    private static Object failure(Use use) throws Exception {
        try (Peer peer = new Peer(); Stream stream = peer.connect()) {
            return use.run(stream);
        } catch (Exception failed) {
            return failed.getClass();
        } finally {
            Thread.interrupted();
        }
    }

    // Virtual threads.

    /** Runs an action on many virtual threads, then an action on one more, and tells how many have ended. */
    private static int manyAndOne(Callable<?> action, Callable<?> last) throws Exception {
        List<FutureTask<String>> tasks = new ArrayList<>();
        AtomicInteger ended = new AtomicInteger();
        for (int i = 0; i <= MANY; i++) {
            Callable<?> run = i < MANY ? action : last;
            tasks.add(start(true, () -> {
                run.call();
                return ended.incrementAndGet();
            }));
        }
        for (FutureTask<String> task : tasks) {
            String result = task.get(60, TimeUnit.SECONDS);
            if (!result.matches("[0-9]+")) {
                throw new IllegalStateException(result);
            }
        }
        return ended.get();
    }

    private static void virtualThreads() {
        Checks.check("callbacks of 50 virtual threads wait for each other and for one that is idle", MANY + 1, () -> {
            CyclicBarrier barrier = new CyclicBarrier(MANY + 1);
            Decision decision = waitingDecision(RetryOptions.newRecommended().sleep(seconds -> {
                barrier.await((long) AT_MOST, TimeUnit.SECONDS);
                return Outcome.DONE;
            }));
            return manyAndOne(() -> {
                decision.sleep(null);
                return null;
            }, () -> barrier.await((long) AT_MOST, TimeUnit.SECONDS));
        });
        Checks.check("50 virtual threads read what one more virtual thread sends", MANY + 1, () -> {
            try (Peer peer = new Peer()) {
                List<Stream> streams = new ArrayList<>();
                List<Socket> accepted = new ArrayList<>();
                for (int i = 0; i < MANY; i++) {
                    streams.add(peer.connect());
                    accepted.add(peer.socket.accept());
                }
                AtomicInteger next = new AtomicInteger();
                return manyAndOne(() -> streams.get(next.getAndIncrement()).read(new byte[1]), () -> {
                    for (Socket socket : accepted) {
                        socket.getOutputStream().write(1);
                    }
                    return null;
                });
            }
        });
    }
}
