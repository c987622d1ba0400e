package netlib;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * An object of the C library. {@link #close} frees it; if the program does not call close, the garbage collector does
 * so later. An object that is borrowed from others keeps them alive, and is not freed.
 */
public abstract class Handle implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private static final long CLOSED = 1L << 32;

    private final Object[] lenders;
    private final Cleaner.Cleanable cleanable;
    private final long pointer;

    /** The number of calls that use the object, plus CLOSED. */
    private final AtomicLong state = new AtomicLong();

    Handle(long pointer, Object[] lenders, LongConsumer free) {
        this.pointer = pointer;
        this.lenders = lenders;
        // The action must not refer to this object, or the object would never be collected.
        this.cleanable = lenders == null ? CLEANER.register(this, () -> free.accept(pointer)) : null;
    }

    final boolean isClosed() {
        if (state.get() >= CLOSED) {
            return true;
        }
        for (int at = 0; lenders != null && at < lenders.length; at++) {
            if (lenders[at] instanceof Handle lender && lender.isClosed()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the pointer for a call, after which {@link #leave} must follow. */
    final long enter() {
        while (!isClosed()) {
            long calls = state.get();
            if (calls < CLOSED && state.compareAndSet(calls, calls + 1)) {
                return pointer;
            }
        }
        throw closed();
    }

    final void leave() {
        if (state.decrementAndGet() == CLOSED) {
            free();
        }
    }

    final IllegalStateException closed() {
        return new IllegalStateException(getClass().getSimpleName() + " is closed");
    }

    /**
     * Frees the object, at once or after the last call that uses it. Closing it again does nothing. If a call of
     * another thread waits in a {@link Stream}, a {@link Body}, a {@link Connect} or an {@link Attempts}, the wait ends,
     * and the call throws an IllegalStateException. A call of another object ends as usual.
     */
    @Override
    public final void close() {
        long calls = state.getAndUpdate(now -> now | CLOSED);
        if (calls == 0) {
            free();
        } else {
            stopWaits();
        }
    }

    private void free() {
        if (cleanable != null) {
            cleanable.clean();
        }
        release();
    }

    /** Ends the waits of other threads in the object. */
    void stopWaits() {}

    /** Releases what the object keeps beside the object of C. */
    void release() {}
}
