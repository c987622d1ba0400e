// The types of the netlib package. bindings/node/generate.py writes this file.
//
// Results of the types int64_t, uint64_t and size_t are numbers, or BigInts if a number would lose digits. Seconds that
// are null stand for no time limit. A Limit may be replaced with an AbortSignal, whose abort cancels the call.

/** Text of netlib may contain bytes that are not UTF-8. Such a byte becomes a lone surrogate, U+DC00 plus the byte.
 * Every function turns the surrogate back into the byte. */
export type Text = string | Uint8Array;
export type Data = string | Uint8Array;
export type Fields = Readonly<Record<string, string>> | Iterable<readonly [string, string]>;

/** Returns the bytes of a text of netlib. */
export declare function textToBytes(text: string): Buffer;

/** A handle of netlib. The garbage collector frees a handle that is not closed, but it may do so late. */
declare class Handle {
    protected constructor();
    /** Frees the handle, at once or after the calls that use it. Closing a handle twice has no effect. */
    close(): void;
    [Symbol.dispose](): void;
}

/** A failure of netlib. There is a subclass for each class of statuses. */
export declare class NetlibError extends Error {
    readonly status: Status;
    /** The name of the status, such as NETLIB_CONNECT_TIMEOUT. */
    readonly code: string;
    /** The setting that would change the outcome. */
    readonly advice: string | null;
    /** The offset of invalid input in bytes, or -1. */
    readonly offset: number;
    /** The errors that led to this one. `cause` is the first of them. */
    readonly causes: readonly NetlibError[];
    /** The details; null for errors of the package, such as a closed handle. */
    readonly info: ErrorInfo | null;
    /** The message with the causes and the advice, for a log. */
    report(): string;
}
/** An invalid argument. */
export declare class ArgumentError extends NetlibError {}
/** A call that the state of an object does not allow. */
export declare class StateError extends NetlibError {}
/** A failure of the operating system. */
export declare class SystemError extends NetlibError {}
/** A limit or timeout that ended, or a cancellation. */
export declare class TimeError extends NetlibError {}
/** A malformed URL. */
export declare class UrlError extends NetlibError {}
/** A connection that cannot be made. */
export declare class ConnectError extends NetlibError {}
/** A failure of TLS. */
export declare class TlsError extends NetlibError {}
/** A malformed or incomplete response. */
export declare class HttpError extends NetlibError {}
/** Retries that are used up. */
export declare class RetryError extends NetlibError {}
/** A failure that the application reported. */
export declare class ApplicationError extends NetlibError {}

/** One attempt of a request: the first one, a retry, or a redirect. */
export declare class Attempt {
    private constructor();
    method(): string;
    url(): Url;
    headers(): Headers | null;
    /** Returns the request of this attempt. */
    request(form?: RequestForm): Request;
    /** Returns false if the request of this attempt has no body, because a redirect changed the method. */
    sendsBody(): boolean;
    /** Returns the last decision; null before the first one, and after a decision that failed. */
    decision(): Decision | null;
    /** Resolves to true if the response is the final one. Otherwise waits for the next attempt: a retry or redirect. */
    accept(response: Response): Promise<boolean>;
    /** Waits for the next attempt, or rejects if the error is not retried. Exceptions that are not from netlib, and
     * errors after `accept` has resolved to true or rejected, are not retried. */
    failed(error: unknown): Promise<void>;
}

/** Iterates over the attempts of a request, as a Retry decides. `limit` also bounds the waits between two attempts.
 *
 *     for await (const attempt of attempts(Retry.recommended(), { url, headers }, limit)) {
 *         try {
 *             const stream = await Stream.connect(attempt.url(), tls, null, limit);
 *             await stream.write(attempt.request().toWire());
 *             const response = await stream.readResponse(attempt.method());
 *             if (!(await attempt.accept(response))) continue;
 *             for await (const piece of stream.body(response)) process.stdout.write(piece);
 *         } catch (error) {
 *             await attempt.failed(error);
 *         }
 *     }
 */
export declare function attempts(
    retry: Retry,
    request: { method?: string; url: Url; headers?: Headers | null },
    limit?: Limit | AbortSignal | null,
): AsyncGenerator<Attempt, void, undefined>;

/** Waits until a descriptor is readable or writable. Resolves to false after `timeout` seconds. */
export declare function wait(fd: number, isWrite: boolean, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;
export declare function waitForRead(fd: number, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;
export declare function waitForWrite(fd: number, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;

export interface Url {
    toJSON(): string;
}

export interface Headers {
    [Symbol.iterator](): Generator<[string, string], void, undefined>;
}

export interface Decision {
    /** Waits for the time before the next attempt. */
    sleep(limit?: Limit | AbortSignal | null): Promise<void>;
}

export interface Retry {
    /** Waits for the time before the next attempt. */
    sleep(response?: Response | null, limit?: Limit | AbortSignal | null): Promise<void>;
    /** Waits for the time that the response asks for. Resolves to false if it does not ask for a wait. */
    sleepForRetry(response?: Response | null, limit?: Limit | AbortSignal | null): Promise<boolean>;
}

export interface Connect {
    /** Runs the steps of the operation. Resolves to a connected descriptor, which the caller closes. */
    run(limit?: Limit | AbortSignal | null): Promise<number>;
}

/** The methods that return a promise make the stream non-blocking. Before a method whose name ends with Sync, call
 * `setBlocking(true)`. */
export interface Stream {
    /** Makes the TLS handshake, unless it is already done. */
    handshake(): Promise<void>;
    /** Reads bytes that are available. Resolves to their number, 0 at the end. */
    read(buffer: Uint8Array): Promise<number>;
    /** Writes all of the data. */
    write(data: Data): Promise<void>;
    writev(slices: readonly Data[]): Promise<void>;
    /** Writes early data. Resolves to the number of bytes that were accepted. */
    writeEarlyData(data: Data): Promise<number>;
    shutdown(): Promise<void>;
    shutdownBoth(): Promise<void>;
    /** Reads the head of the final response. */
    readResponse(method: string): Promise<Response>;
    /** Reads bytes of a body. Resolves to their number, 0 at the end of the body. */
    readBody(decoder: BodyDecoder, buffer: Uint8Array): Promise<number>;
    /** Iterates over the pieces of a response's body. */
    body(response: Response): AsyncGenerator<Buffer, void, undefined>;
}

export declare namespace Stream {
    /** Connects to the server of a URL, and makes the TLS handshake for https. Closing the stream closes the connection. */
    function connect(
        url: Url,
        context?: TlsContext | null,
        options?: ConnectOptions | null,
        limit?: Limit | AbortSignal | null,
    ): Promise<Stream>;
}
