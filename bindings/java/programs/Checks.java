import java.util.Objects;
import java.util.concurrent.Callable;
import netlib.Netlib;
import netlib.NetlibException;

/** Compares results, prints each failure, and counts. */
final class Checks {
    private static int passed;
    private static int failed;

    private Checks() {}

    static void check(String what, Object expected, Callable<?> call) {
        Object found;
        try {
            found = call.call();
        } catch (Throwable raised) {
            found = describe(raised);
        }
        if (Objects.deepEquals(expected, found)) {
            passed++;
        } else {
            failed++;
            System.out.println("FAILED: " + what + ": expected " + expected + ", found " + found);
        }
    }

    /** The class of a failure, and the status of netlib that caused it. */
    static String describe(Throwable raised) {
        String text = raised.getClass().getSimpleName();
        for (Throwable at = raised; at != null; at = at.getCause()) {
            if (at instanceof NetlibException cause) {
                return text + " " + Netlib.statusName(cause.status());
            }
        }
        return text + ": " + raised.getMessage();
    }

    static void exit() {
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }
}
