package netlib;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/** Makes exceptions from statuses. */
final class Errors {
    private Errors() {}

    static void check(int status, PointerByReference err) {
        Pointer pointer = err.getValue();
        try {
            Held.rethrow();
        } catch (Throwable raised) {
            Native.netlib_error_free(pointer);
            throw raised;
        }
        int found = status == 0 ? StatusClass.SUCCESS : Native.netlib_status_class(status);
        if (found != StatusClass.SUCCESS && found != StatusClass.PROGRESS) {
            throw NetlibException.of(NetlibError.of(pointer, null));
        }
    }
}
