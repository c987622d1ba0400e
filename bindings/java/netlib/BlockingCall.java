package netlib;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.function.IntSupplier;

/**
 * A call of C that may wait. An interrupt of the thread ends the wait as it ends the waits of java.nio: it closes this
 * channel, which cancels the limit of the wait.
 */
final class BlockingCall extends AbstractInterruptibleChannel {
    private static final ThreadLocal<BlockingCall> CURRENT = new ThreadLocal<>();

    private final WaitingHandle owner;
    private Limit limit;
    private long limitPointer; // 0 without a limit, and after the call

    private BlockingCall(WaitingHandle owner, Limit own) {
        this.owner = owner;
        use(own);
        if (owner != null) {
            owner.beginWait(this);
        }
    }

    /**
     * Makes the limit of a wait, which is a child of the application's limit. Without a limit of the application, an
     * owner that has a limit keeps it: the result is null.
     */
    static Limit limit(Limit given, WaitingHandle owner) {
        if (given == null && owner != null && owner.hasLimit()) {
            return null;
        }
        return Limit.make(Netlib.TIMEOUT_NONE, given);
    }

    /**
     * Runs a call of C, which stores its error in `err`, and throws the exception of a failure. The wait obeys the
     * limit `own`, or else the limit that the owner keeps.
     */
    static int run(WaitingHandle owner, Limit own, long[] err, IntSupplier code) {
        BlockingCall call = new BlockingCall(owner, own);
        PlatformThread.Result result;
        try {
            result = PlatformThread.isNeeded() ? PlatformThread.run(call, code) : call.runHere(code);
        } finally {
            call.finish();
        }
        if (result.status() == Status.CANCELLED.number() && !Held.hasRaised()) {
            call.explain(result, err);
        }
        Errors.check(result.status(), err);
        return result.status();
    }

    /** Throws the exception for a close or an interrupt, if one of them cancelled the call. */
    private void explain(PlatformThread.Result result, long[] err) {
        if (owner != null && owner.isClosed()) {
            Native.netlib_error_free(err[0]);
            throw owner.closed();
        }
        if (result.wasInterrupted()) {
            ErrorOptions options = ErrorOptions.make().cause(NetlibError.of(err[0], null));
            throw NetlibException.of(NetlibError.make(Status.INTERRUPTED, "the thread was interrupted", options));
        }
    }

    /** Runs the call on the present thread. */
    PlatformThread.Result runHere(IntSupplier code) {
        BlockingCall outer = CURRENT.get();
        CURRENT.set(this);
        int status;
        boolean wasInterrupted;
        try {
            begin();
            status = code.getAsInt();
        } finally {
            wasInterrupted = endedByInterrupt();
            CURRENT.set(outer);
            resume();
        }
        return new PlatformThread.Result(status, wasInterrupted);
    }

    private boolean endedByInterrupt() {
        try {
            end(true);
            return false;
        } catch (ClosedByInterruptException interrupted) {
            return true;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Uses a limit for the wait, unless the call has one. */
    void use(Limit found) {
        if (limit == null && found != null) {
            limitPointer = found.enter();
            limit = found;
        }
    }

    /** Ends the wait, now or when it begins. */
    synchronized void stop() {
        if (limitPointer != 0) {
            Native.netlib_limit_cancel(limitPointer);
        }
    }

    @Override
    protected void implCloseChannel() {
        stop();
    }

    private void finish() {
        if (owner != null) {
            owner.endWait(this);
        }
        synchronized (this) {
            limitPointer = 0;
        }
        if (limit != null) {
            limit.leave();
        }
    }

    /** Makes interrupts end the present call again. A callback may have waited in a channel of its own. */
    static void resume() {
        BlockingCall call = CURRENT.get();
        if (call != null) {
            call.begin();
        }
    }
}
