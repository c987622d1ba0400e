package netlib;

/**
 * A callback that reads or writes throws this exception to return a status of progress: {@link Status#WANT_READ},
 * {@link Status#WANT_WRITE} or {@link Status#END_OF_STREAM}.
 */
public final class Progress extends Exception {
    private static final long serialVersionUID = 1;

    /** The number of the status. */
    private final long number;

    /**
     * Makes the exception.
     *
     * @param status the status that the callback returns
     */
    public Progress(Status status) {
        super(status.name(), null, false, false);
        number = status.number();
    }

    /**
     * Returns the status of progress.
     *
     * @return the status
     */
    public Status status() {
        return Status.of(number);
    }
}
