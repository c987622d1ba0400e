package netlib;

import java.util.Arrays;

/** The handles that one call uses. They stay alive, and are not freed, until the call has ended. */
final class Use implements AutoCloseable {
    private Handle[] handles = new Handle[3];
    private int count;

    long pointer(Handle handle) {
        if (handle == null) {
            return 0;
        }
        long pointer = handle.enter();
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
