package netlib;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A failure of netlib. The subclasses follow the classes of statuses. */
public class NetlibException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient NetlibError error;
    private final int status;
    private final String advice;
    private final String report;
    private final long offset;
    private final List<NetlibException> causes = new ArrayList<>();

    NetlibException(NetlibError error, Throwable cause) {
        super(error.message(), cause);
        this.error = error;
        status = error.status();
        advice = error.advice();
        report = error.report();
        offset = error.offset();
        for (long at = 0; at < error.causeCount(); at++) {
            causes.add(of(error.cause(at)));
        }
    }

    /** Makes the exception for an error. If the error carries an exception, that exception is the cause. */
    public static NetlibException of(NetlibError error) {
        Throwable cause = error.userData() instanceof Throwable carried ? carried : null;
        if (cause == null && error.causeCount() > 0) {
            cause = of(error.cause(0));
        }
        int found = Netlib.statusClass(error.status());
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
     * The error of an exception, for functions such as {@link Attempts#next}: the error of a NetlibException, or an error
     * with {@link Status#APPLICATION_ERROR} that carries another exception; null for null.
     */
    public static NetlibError errorOf(Exception failure) {
        if (failure == null) {
            return null;
        }
        NetlibException own = failure instanceof NetlibException ? (NetlibException) failure : null;
        if (own != null && own.error != null) {
            return own.error;
        }
        int status = own == null ? Status.APPLICATION_ERROR : own.status;
        return NetlibError.make(status, String.valueOf(failure.getMessage()), ErrorOptions.make().userData(failure));
    }

    /** The status, one of the constants of {@link Status}. */
    public int status() {
        return status;
    }

    /** The advice; null without advice. */
    public String advice() {
        return advice;
    }

    /** The byte of the input with the defect, or -1. */
    public long offset() {
        return offset;
    }

    /** The message, the causes and the advice, for a log. */
    public String report() {
        return report;
    }

    /** The errors that led to this one. */
    public List<NetlibException> causes() {
        return Collections.unmodifiableList(causes);
    }

    /** The error, for functions such as {@link Attempts#next}. null if the exception was deserialised. */
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

    /** A time limit or a cancellation ended the call. */
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
