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

    static int count() {
        return OBJECTS.size();
    }

    /** Keeps the exception of a callback for the call that invoked it. A status of progress is a result. */
    static int raise(Throwable raised, int failure) {
        if (raised instanceof Progress progress && failure != 0) {
            return progress.status();
        }
        RAISED.set(raised);
        return failure;
    }

    /** Throws the exception of a callback, if one was raised during the last call of this thread. */
    static void rethrow() {
        Throwable raised = RAISED.get();
        if (raised != null) {
            RAISED.remove();
            Held.<RuntimeException>sneak(raised);
        }
    }

    /** Throws a checked exception from a method that declares none: the exception belongs to the application. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable raised) throws T {
        throw (T) raised;
    }
}
