package netlib;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A failure of netlib. The subclasses follow the classes of statuses. */
public class NetlibException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient NetlibError error;

    /** The number of the status. */
    private final long status;

    /** The advice. */
    private final String advice;

    /** The report. */
    private final String report;

    /** The offset. */
    private final long offset;

    /** The causes. */
    private final List<NetlibException> causes = new ArrayList<>();

    NetlibException(NetlibError error, Throwable cause) {
        super(Names.inJava(error.message()), cause);
        this.error = error;
        status = error.status().number();
        advice = Names.inJava(error.advice());
        report = Names.inJava(error.report());
        offset = error.offset();
        for (long at = 0; at < error.causeCount(); at++) {
            causes.add(of(error.cause(at)));
        }
    }

    /**
     * Makes the exception for an error. If the error carries an exception, that exception is the cause.
     *
     * @param error the error
     * @return the exception
     */
    public static NetlibException of(NetlibError error) {
        Throwable cause = error.userData() instanceof Throwable carried ? carried : null;
        if (cause == null && error.causeCount() > 0) {
            cause = of(error.cause(0));
        }
        StatusClass found = Netlib.statusClass(error.status());
        if (found == StatusClass.ARGUMENT || found == StatusClass.URL) {
            return new Argument(error, cause);
        }
        if (found == StatusClass.TIME) {
            return new Timeout(error, cause);
        }
        if (found == StatusClass.CONNECT) {
            return new Connect(error, cause);
        }
        return found == StatusClass.TLS ? new Tls(error, cause) : new NetlibException(error, cause);
    }

    /**
     * The error of an exception, for functions such as {@link Attempts#next}: the error of a NetlibException, or an
     * error with {@link Status#APPLICATION_ERROR} that carries another exception.
     *
     * @param failure the exception; may be null
     * @return the error; null for null
     */
    public static NetlibError errorOf(Exception failure) {
        if (failure == null) {
            return null;
        }
        NetlibException own = failure instanceof NetlibException ? (NetlibException) failure : null;
        if (own != null && own.error != null) {
            return own.error;
        }
        Status status = own == null ? Status.APPLICATION_ERROR : own.status();
        return NetlibError.make(status, String.valueOf(failure.getMessage()), ErrorOptions.make().userData(failure));
    }

    /**
     * Returns the status.
     *
     * @return the status
     */
    public Status status() {
        return Status.of(status);
    }

    /**
     * Returns advice for a person: how to remove the cause of the failure.
     *
     * @return the advice; null without advice
     */
    public String advice() {
        return advice;
    }

    /**
     * Returns the place of the defect in the input.
     *
     * @return the number of bytes before the defect, or -1
     */
    public long offset() {
        return offset;
    }

    /**
     * Returns the message, the causes and the advice, for a log.
     *
     * @return the text
     */
    public String report() {
        return report;
    }

    /**
     * Returns the errors that led to this one.
     *
     * @return the errors
     */
    public List<NetlibException> causes() {
        return Collections.unmodifiableList(causes);
    }

    /**
     * Returns the error, for functions such as {@link Attempts#next}. Its texts contain the names of C.
     *
     * @return the error; null if the exception was deserialised
     */
    public NetlibError error() {
        return error;
    }

    /** An invalid argument or URL. */
    public static final class Argument extends NetlibException {
        private static final long serialVersionUID = 1;

        Argument(NetlibError error, Throwable cause) {
            super(error, cause);
        }
    }

    /**
     * A time limit, a cancellation or an interrupt ended the call. After an interrupt, the status is
     * {@link Status#INTERRUPTED}, and the thread's interrupt flag is still set.
     */
    public static final class Timeout extends NetlibException {
        private static final long serialVersionUID = 1;

        Timeout(NetlibError error, Throwable cause) {
            super(error, cause);
        }
    }

    /** The connection could not be made. */
    public static final class Connect extends NetlibException {
        private static final long serialVersionUID = 1;

        Connect(NetlibError error, Throwable cause) {
            super(error, cause);
        }
    }

    /** The TLS session failed: see the status. */
    public static final class Tls extends NetlibException {
        private static final long serialVersionUID = 1;

        Tls(NetlibError error, Throwable cause) {
            super(error, cause);
        }
    }
}
