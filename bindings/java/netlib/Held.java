package netlib;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps the objects that C holds as numbers, and the exceptions of callbacks. */
final class Held {
    private static final Map<Long, Object> OBJECTS = new ConcurrentHashMap<>();
    private static final AtomicLong NEXT = new AtomicLong(1);
    private static final ThreadLocal<Throwable> RAISED = new ThreadLocal<>();

    private Held() {}

    /** Returns the number of an object, or of the array of the callbacks of a call, for C's `ctx`. */
    static long hold(Object object) {
        long key = NEXT.getAndIncrement();
        OBJECTS.put(key, object);
        return key;
    }

    static void free(long ctx) {
        OBJECTS.remove(ctx);
    }

    static Object userData(long ctx) {
        return ctx == 0 ? null : OBJECTS.get(ctx);
    }

    /** Returns the callback at an index of the array that is held as `ctx`. */
    static Object callback(long ctx, int index) {
        return ((Object[]) OBJECTS.get(ctx))[index];
    }

    /** Returns the number of the next object. */
    static long next() {
        return NEXT.get();
    }

    /** Keeps the exception of a callback for the call that invoked it. A status of progress is a result. */
    static int raise(Throwable raised, int failure) {
        if (raised instanceof Progress progress && failure != 0) {
            return (int) progress.status().number();
        }
        RAISED.set(raised);
        return failure;
    }

    static boolean hasRaised() {
        return RAISED.get() != null;
    }

    /** Returns and forgets the exception of a callback that was raised during the last call of this thread. */
    static Throwable take() {
        Throwable raised = RAISED.get();
        if (raised != null) {
            RAISED.remove();
        }
        return raised;
    }

    /** Keeps an exception that was raised on another thread during a call of this thread. */
    static void put(Throwable raised) {
        if (raised != null) {
            RAISED.set(raised);
        }
    }

    /** Throws the exception of a callback, if one was raised during the last call of this thread. */
    static void rethrow() {
        Throwable raised = take();
        if (raised != null) {
            throw Held.<RuntimeException>unchecked(raised);
        }
    }

    /** For the throw of a checked exception of the application in a method that declares none. */
    @SuppressWarnings("unchecked")
    static <T extends Throwable> T unchecked(Throwable raised) throws T {
        throw (T) raised;
    }
}
