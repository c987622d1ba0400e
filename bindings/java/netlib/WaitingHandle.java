package netlib;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** An object that keeps the limit of its waits. */
abstract class WaitingHandle extends Handle {
    /** The calls that wait. This list is also the lock of the limits. */
    private final List<BlockingCall> waiting = new ArrayList<>();

    /** The limit that C has: a child of the limit that the application gave. */
    private Limit ownLimit;

    private Limit givenLimit;

    WaitingHandle(long pointer, Object[] lenders, LongConsumer free) {
        super(pointer, lenders, free);
    }

    /** Keeps a limit that C also keeps for the object. A call in progress still uses the earlier limit. */
    final void keepLimit(Limit own, Limit given) {
        synchronized (waiting) {
            close(ownLimit);
            close(givenLimit);
            ownLimit = own == null ? null : own.copy();
            givenLimit = given == null ? null : given.copy();
        }
    }

    private static void close(Limit limit) {
        if (limit != null) {
            limit.close();
        }
    }

    final boolean hasLimit() {
        synchronized (waiting) {
            return ownLimit != null;
        }
    }

    final Limit givenLimit() {
        synchronized (waiting) {
            return givenLimit == null ? null : givenLimit.copy();
        }
    }

    final void beginWait(BlockingCall call) {
        synchronized (waiting) {
            waiting.add(call);
            call.use(ownLimit);
            if (isClosed()) {
                call.stop();
            }
        }
    }

    final void endWait(BlockingCall call) {
        synchronized (waiting) {
            waiting.remove(call);
        }
    }

    @Override
    final void stopWaits() {
        synchronized (waiting) {
            waiting.forEach(BlockingCall::stop);
        }
    }

    @Override
    final void release() {
        keepLimit(null, null);
    }
}
