package netlib;

import com.sun.jna.Pointer;
import java.lang.ref.Cleaner;
import java.util.function.Consumer;

/**
 * An object of the C library. {@link #close} frees it; if the program does not call close, the garbage collector does
 * so later. An object that is borrowed from others keeps them alive, and is not freed.
 */
public abstract class Handle implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Object[] lenders;
    private final Cleaner.Cleanable cleanable;
    private Pointer pointer;

    Handle(Pointer pointer, Object[] lenders, Consumer<Pointer> free) {
        this.pointer = pointer;
        this.lenders = lenders;
        // The action must not refer to this object, or the object would never be collected.
        this.cleanable = lenders == null ? CLEANER.register(this, () -> free.accept(pointer)) : null;
    }

    final Pointer pointer() {
        if (pointer == null) {
            throw new IllegalStateException(getClass().getSimpleName() + " is closed");
        }
        for (int at = 0; lenders != null && at < lenders.length; at++) {
            if (lenders[at] instanceof Handle lender) {
                lender.pointer();
            }
        }
        return pointer;
    }

    /** Frees the object. Closing it again does nothing. */
    @Override
    public final void close() {
        pointer = null;
        if (cleanable != null) {
            cleanable.clean();
        }
    }
}
