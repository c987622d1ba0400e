package netlib;

/**
 * A callback that reads or writes throws this exception to return a status of progress: {@link Status#WANT_READ},
 * {@link Status#WANT_WRITE} or {@link Status#END_OF_STREAM}.
 */
public final class Progress extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    public Progress(int status) {
        super(Netlib.statusName(status), null, false, false);
        this.status = status;
    }

    public int status() {
        return status;
    }
}
