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
        if (status != 0 && StatusClass.of(Native.netlib_status_class(status)) != StatusClass.PROGRESS) {
            throw NetlibException.of(NetlibError.of(err[0], null));
        }
    }
}
