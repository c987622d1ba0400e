package netlib;

import com.sun.jna.Pointer;
import java.util.Arrays;

/** The handles that one call uses. They stay alive, and are not freed, until the call has ended. */
final class Use implements AutoCloseable {
    private Handle[] handles = new Handle[3];
    private int count;

    Pointer pointer(Handle handle) {
        if (handle == null) {
            return null;
        }
        Pointer pointer = handle.enter();
        if (count == handles.length) {
            handles = Arrays.copyOf(handles, 2 * count);
        }
        handles[count++] = handle;
        return pointer;
    }

    @Override
    public void close() {
        for (int at = 0; at < count; at++) {
            handles[at].leave();
        }
    }
}
