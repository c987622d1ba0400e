package netlib;

/**
 * The loop over the attempts of one request:
 *
 * <pre>{@code
 * Attempts attempts = new Attempts(Retry.recommended(), "GET", url, headers, limit);
 * do {
 *     attempts.run(() -> send(attempts.method(), attempts.url(), attempts.headers()));
 * } while (attempts.again());
 * }</pre>
 */
public final class Attempts {
    private Retry retry;
    private String method;
    private Url url;
    private Headers headers;
    private final Limit limit;
    private boolean again;

    /** Sends a request and returns the head of the response. */
    @FunctionalInterface
    public interface Send {
        Response call() throws Exception;
    }

    /** Starts with the first request. {@code headers} and {@code limit} may be null. */
    public Attempts(Retry retry, String method, Url url, Headers headers, Limit limit) {
        this.retry = retry;
        this.method = method;
        this.url = url;
        this.headers = headers;
        this.limit = limit;
    }

    /**
     * Makes one attempt, and waits before the next one. Throws the exception of the attempt, or one with
     * {@link Status#MAX_RETRY}, if the request has failed for good.
     */
    public void run(Send send) {
        again = false;
        Response response = null;
        NetlibError failure = null;
        try {
            response = send.call();
        } catch (NetlibException failed) {
            failure = failed.error();
        } catch (Exception failed) {
            String message = String.valueOf(failed.getMessage());
            failure = NetlibError.make(Status.APPLICATION_ERROR, message, ErrorOptions.make().userData(failed));
        }
        Decision decision = retry.decide(method, url, response, failure, limit);
        if (decision.action() == Action.RETURN_RESPONSE) {
            return;
        }
        if (headers != null) {
            headers = decision.headers(headers);
        }
        retry = decision.retry();
        url = decision.url();
        method = decision.method();
        decision.sleep(limit);
        again = true;
    }

    /** True if another attempt follows. */
    public boolean again() {
        return again;
    }

    public String method() {
        return method;
    }

    public Url url() {
        return url;
    }

    public Headers headers() {
        return headers;
    }
}
