package netlib;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * Runs the waiting calls of virtual threads on platform threads. A virtual thread that waits in C would keep its
 * carrier, so that other virtual threads could not run.
 */
final class PlatformThread {
    /** Thread.isVirtual, which Java 17 does not have. */
    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

    private static final AtomicInteger COUNT = new AtomicInteger();

    private PlatformThread() {}

    /** The status of a call, and true if an interrupt ended the call. */
    record Result(int status, boolean wasInterrupted) {}

    /** The threads, which end when they have had no call for a minute. */
    private static final class Threads {
        static final ExecutorService CACHED = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(null, task, "netlib-" + COUNT.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        });
    }

    private static MethodHandle findIsVirtual() {
        try {
            MethodType type = MethodType.methodType(boolean.class);
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", type);
        } catch (ReflectiveOperationException before21) {
            return null;
        }
    }

    /** Returns true on a virtual thread. */
    static boolean isNeeded() {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable impossible) {
            throw new LinkageError("Thread.isVirtual failed", impossible);
        }
    }

    /** The call, with the thread that runs it. */
    private static final class Task {
        private final BlockingCall call;
        private final IntSupplier code;
        private Thread thread;
        private boolean isInterrupted;
        private Throwable raised;

        Task(BlockingCall call, IntSupplier code) {
            this.call = call;
            this.code = code;
        }

        Result run() {
            synchronized (this) {
                thread = Thread.currentThread();
                if (isInterrupted) {
                    thread.interrupt();
                }
            }
            try {
                return call.runHere(code);
            } finally {
                raised = Held.take();
                synchronized (this) {
                    thread = null;
                    Thread.interrupted(); // the interrupt was for this call
                }
            }
        }

        synchronized void interrupt() {
            isInterrupted = true;
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    /** Runs the call on a platform thread. An interrupt of this thread interrupts that thread. */
    static Result run(BlockingCall call, IntSupplier code) {
        Task task = new Task(call, code);
        Future<Result> future = Threads.CACHED.submit(task::run);
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException interrupted) {
                    wasInterrupted = true;
                    task.interrupt();
                } catch (ExecutionException failed) {
                    throw Held.<RuntimeException>unchecked(failed.getCause());
                }
            }
        } finally {
            Held.put(task.raised);
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
