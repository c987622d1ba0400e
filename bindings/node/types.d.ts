/// <reference types="node" />
// The types of the netlib package. bindings/node/generate.py writes this file.
//
// Results of the types int64_t, uint64_t and size_t are numbers, or BigInts if a number would lose digits. Seconds that
// are null stand for no time limit. A Limit may be replaced with an AbortSignal, whose abort cancels the call.

import type * as http from 'node:http';
import type * as https from 'node:https';
import type { Duplex } from 'node:stream';

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

/** Waits until a descriptor is readable or writable. Resolves to false after `timeout` seconds. */
export declare function wait(fd: number, isWrite: boolean, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;
export declare function waitForRead(fd: number, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;
export declare function waitForWrite(fd: number, timeout?: number | null, limit?: Limit | AbortSignal | null): Promise<boolean>;

/** What netlib needs to make the connections of an HTTP client. */
export interface SocketSettings {
    /** The settings of TLS: trust, pins, the client's certificate. By default, the trust of the system. */
    context?: TlsContext | null;
    /** The settings of the connections, such as addresses and timeouts. */
    options?: ConnectOptions | null;
}

/** An agent for node:http whose connections netlib makes. Options of node:net that netlib would ignore, such as `lookup`
 * and `localAddress`, throw, and so does `proxyEnv`. */
export declare class HttpAgent extends http.Agent {
    constructor(settings?: http.AgentOptions & Pick<SocketSettings, 'options'>);
}

/** An agent for node:https whose connections netlib makes. Options of node:tls and node:net that netlib would ignore,
 * such as `ca`, `minVersion`, `rejectUnauthorized: false` and `lookup`, throw, and so does `proxyEnv`. */
export declare class HttpsAgent extends https.Agent {
    constructor(settings?: http.AgentOptions & SocketSettings);
}

/** Returns the function for the option `connect` of undici's Agent. ProxyAgent and EnvHttpProxyAgent of undici replace
 * this function with their own, so trust, pins and the address policy of netlib have no effect with them.
 *
 * @param settings.timeout the limit in seconds for connecting and the TLS handshake, 10 by default; null for no limit.
 * The option `connectTimeout` of undici has no effect. */
export declare function connector(settings?: SocketSettings & { timeout?: number | null }): (
    options: { hostname: string; protocol: string; port: string; servername?: string | null },
    callback: (...result: [null, Duplex] | [Error, null]) => void,
) => void;

export interface Url {
    /** True for a URL with the same text. */
    equals(other: unknown): boolean;
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

/** `error` may be any caught value. An exception that is not from netlib is thrown again, and does not end
 * the request. */
export interface Attempts {
    /** Takes the outcome of the present attempt, and decides as `Retry.decide`. If another attempt follows, waits in
     * the event loop as `Decision.sleep`, and begins this attempt. The object is busy during the wait.
     *
     *     let status;
     *     do {
     *         let stream;
     *         try {
     *             stream = await Stream.connect(attempts.url(), tls, null, limit);
     *             await stream.write(attempts.request(RequestForm.ORIGIN).toWire());
     *             const response = await stream.readResponse(attempts.method());
     *             status = await attempts.next(response);
     *             if (status === Status.OK) for await (const piece of stream.body(response)) process.stdout.write(piece);
     *         } catch (error) {
     *             status = await attempts.next(null, error);
     *         } finally {
     *             stream?.close();
     *         }
     *     } while (status === Status.SEND_AGAIN);
     *
     * Resolves to `Status.SEND_AGAIN` if another attempt follows, and to `Status.OK` if `response` is the result of the
     * request. This and every failure, also of the wait, end the request. After the end, a call with an error rejects
     * with this error. There is one exception: after `Status.OK`, a call with the response and an error decides whether
     * the request is sent again. */
    next(response?: Response | null, error?: unknown): Promise<Status>;
    nextSync(response: Response | null, error: unknown): Status;
    decide(response: Response | null, error: unknown): Status;
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
    /** Reads the head of the next response, which may be an interim response, such as 100 or 103. */
    readNextResponse(method: string): Promise<Response>;
    /** Reads the rest of a body, which may have at most `maxSize` bytes. */
    readWholeBody(decoder: BodyDecoder, maxSize: number): Promise<Buffer>;
    /** Discards the rest of a body, which may have at most `maxSize` bytes, in at most `seconds`. */
    discardBody(decoder: BodyDecoder, maxSize: number, seconds?: number | null): Promise<void>;
    /** Reads bytes of a body. Resolves to their number, 0 at the end of the body. */
    readBody(decoder: BodyDecoder, buffer: Uint8Array): Promise<number>;
    /** Iterates over the pieces of a response's body. */
    body(response: Response): AsyncGenerator<Buffer, void, undefined>;
}

export declare namespace Stream {
    /** Connects to the server of a URL, and makes the TLS handshake for https. Closing the stream closes the connection.
     * `parseUrlStrict` parses text and a URL of JavaScript. */
    function connect(
        url: Url | URL | string,
        context?: TlsContext | null,
        options?: ConnectOptions | null,
        limit?: Limit | AbortSignal | null,
    ): Promise<Stream>;
}
