package netlib;

/** Makes exceptions from statuses. */
final class Errors {
    private Errors() {}

    static void check(int status, long[] err) {
        try {
            Held.rethrow();
        } catch (Throwable raised) {
            Native.netlib_error_free(err[0]);
            throw raised;
        }
        int found = status == 0 ? StatusClass.SUCCESS : Native.netlib_status_class(status);
        if (found != StatusClass.SUCCESS && found != StatusClass.PROGRESS) {
            throw NetlibException.of(NetlibError.of(err[0], null));
        }
    }
}
