'use strict';
// Adds JavaScript's conventions to the classes of api.cjs: promises and iteration.

const fs = require('node:fs');
const { setImmediate } = require('node:timers/promises');
const { inspect } = require('node:util');
const api = require('./api.cjs');
const { NetlibError, fromInfo } = require('./errors.cjs');
const { ready, setRef, wakeAll } = require('./event-loop.cjs');
const { Handle, dataOf, isOpen, limitOf, waitsOf } = require('./runtime.cjs');

const {
    Attempts, Connect, ConnectOptions, Decision, ErrorInfo, ErrorOptions, Headers, Limit, Retry, RetryOptions, Status,
    Stream, Url,
} = api;

const POLLIN = 1;

const now = () => performance.now() / 1000;

/** Adds methods to a class. `make` gets the methods that they replace. */
function extend(cls, make) {
    const replaced = Object.getOwnPropertyNames(cls.prototype).map((name) => [name, cls.prototype[name]]);
    const methods = make({ close: Handle.prototype.close, ...Object.fromEntries(replaced) });
    for (const name of Reflect.ownKeys(methods)) {
        Object.defineProperty(cls.prototype, name, { value: methods[name], writable: true, configurable: true });
    }
}

// ---- Waits.

/** Waits until the limit ends at the latest; throws if the limit has ended. */
async function within(limit, events, seconds = Infinity) {
    const end = now() + seconds;
    let isReady;
    do {
        limit?.check();
        isReady = await ready(events, Math.min(end - now(), limit?.remaining() ?? Infinity), waitsOf(limit));
    } while (isReady === null);
    limit?.check();
    return isReady;
}

/** Waits until a descriptor is readable or writable. Resolves to false after `timeout` seconds. */
async function wait(fd, isWrite, timeout = null, limit = null) {
    return within(limitOf(limit), [{ fd, isWrite }], timeout ?? Infinity);
}
const waitForRead = (fd, timeout, limit) => wait(fd, false, timeout, limit);
const waitForWrite = (fd, timeout, limit) => wait(fd, true, timeout, limit);

/** Waits for a number of seconds. */
async function sleep(seconds, limit) {
    limit = limitOf(limit);
    const end = now() + seconds;
    limit?.check();
    for (let left = seconds; left > 0; left = end - now()) await within(limit, [], left);
}

Object.defineProperty(Limit.prototype, 'isLimit', { value: true });

extend(Limit, (generated) => ({
    cancel() {
        generated.cancel.call(this);
        waitsOf(this).end();
    },
}));

// True for an object with the sleep callback of a Retry. This callback waits instead of the event loop.
for (const cls of [Attempts, Decision, Retry, RetryOptions]) {
    Object.defineProperty(cls.prototype, 'sleeper', { value: false, writable: true });
}

extend(Decision, (generated) => ({
    async sleep(limit = null) {
        if (this.sleeper) generated.sleepSync.call(this, limit);
        else await sleep(this.delay(), limit);
    },
}));

extend(Retry, (generated) => ({
    async sleep(response = null, limit = null) {
        if (this.sleeper) generated.sleepSync.call(this, response, limit);
        else await sleep(this.delay(response).seconds, limit);
    },
    async sleepForRetry(response = null, limit = null) {
        if (this.sleeper) return generated.sleepForRetrySync.call(this, response, limit);
        const seconds = this.getRetryAfter(response);
        if (seconds > 0) await sleep(seconds, limit);
        return seconds > 0;
    },
}));

extend(RetryOptions, (generated) => ({
    sleep(callback) {
        this.sleeper = callback !== null;
        return generated.sleep.call(this, callback);
    },
}));

// ---- Connections and streams.

extend(ConnectOptions, (generated) => ({
    useTimeout(timeout) {
        generated.useTimeout.call(this, timeout);
        this.timeoutInUse = timeout;
        return this;
    },
    clone() {
        const copy = generated.clone.call(this);
        copy.timeoutInUse = this.timeoutInUse;
        return copy;
    },
}));

function hasEnded(limit) {
    try {
        limit.check();
        return false;
    } catch {
        return true;
    }
}

extend(Connect, () => ({
    /** Runs the steps of a connect operation. Resolves to a descriptor, which the caller closes. */
    async run(limit = null) {
        limit = limitOf(limit);
        limit?.check();
        for (;;) {
            const { status, fd } = this.step();
            if (status === Status.OK) return fd;
            const events = Array.from({ length: this.waitCount() }, (_, index) => ({
                fd: this.waitFd(index),
                isWrite: this.waitEvents(index) !== POLLIN,
            }));
            const seconds = Math.min(this.waitSeconds(), limit?.remaining() ?? Infinity);
            await ready(events, seconds, waitsOf(limit ?? this));
            // The step describes what a limit that has ended interrupts.
            if (limit && hasEnded(limit)) this.setLimit(limit);
        }
    },
}));

/** Closes a descriptor when no stream uses it any more. */
class Connection {
    constructor(fd) {
        this.fd = fd;
        this.streams = 0;
    }

    attach(stream) {
        this.streams += 1;
        stateOf(stream).connection = this;
        abandoned.register(stream, this, stream);
    }

    release() {
        this.streams -= 1;
        if (this.streams === 0) fs.closeSync(this.fd);
    }
}

/** Releases the connections of streams that were not closed. */
const abandoned = new FinalizationRegistry((connection) => connection.release());

/** The state that the waits of each stream need. */
const states = new WeakMap();

function stateOf(stream) {
    if (!states.has(stream)) {
        states.set(stream, { limit: null, read: Infinity, write: Infinity, end: Infinity, connection: null, isClosed: false, burst: 0 });
    }
    return states.get(stream);
}

/** A stream inside another stream shares its connection. */
function sharing(wrap) {
    return (context, inner, ...rest) => {
        const stream = wrap(context, inner, ...rest);
        states.get(inner)?.connection?.attach(stream);
        return stream;
    };
}
const tlsWrapStream = sharing(api.tlsWrapStream);
const tlsAcceptStream = sharing(api.tlsAcceptStream);

function timedOut(code, text) {
    const kind = code === Status.READ_TIMEOUT ? api.RetryKind.READ : api.RetryKind.OTHER;
    return fromInfo(new ErrorInfo(code, text, new ErrorOptions().retryKind(kind)));
}

// A stream lets the event loop run after BURST bytes without a wait. Each call counts as at least CALL bytes.
const [BURST, CALL] = [256 * 1024, 4096];

/** Repeats a call on a non-blocking stream until the call returns neither WANT_READ nor WANT_WRITE. */
async function drive(stream, call) {
    stream.setBlocking(false);
    const state = stateOf(stream);
    if (waitsOf(stream)?.signal?.aborted) state.limit.check();
    if (state.burst >= BURST) {
        state.burst = 0;
        await setImmediate();
    }
    for (;;) {
        const result = call();
        const status = typeof result === 'number' ? result : result.status;
        if (status !== Status.WANT_READ && status !== Status.WANT_WRITE) {
            state.burst += Math.max(result.n ?? 0, CALL);
            return result;
        }
        state.burst = 0;
        await awaitStream(stream, status === Status.WANT_WRITE);
    }
}

async function awaitStream(stream, isWrite) {
    const state = stateOf(stream);
    const timeout = isWrite ? state.write : state.read;
    const left = Math.min(state.limit?.remaining() ?? Infinity, state.end - now());
    const seconds = Math.max(0, Math.min(timeout, left));
    const isReady = await ready([{ fd: stream.fd(), isWrite }], seconds, waitsOf(state.limit));
    if (isReady !== false || left <= timeout) {
        // The next call on the stream checks the limit, except a write.
        if (isWrite) state.limit?.check();
        return;
    }
    if (isWrite) throw timedOut(Status.WRITE_TIMEOUT, `the peer accepted no bytes for ${timeout} seconds`);
    throw timedOut(Status.READ_TIMEOUT, `no bytes arrived for ${timeout} seconds`);
}

const count = ({ status, n }) => (status === Status.END_OF_STREAM ? 0 : n);

extend(Stream, (generated) => ({
    /** Closes the stream. Calls in progress reject. */
    close() {
        const state = stateOf(this);
        if (state.isClosed) return;
        state.isClosed = true;
        const fd = this.fd();
        generated.close.call(this);
        wakeAll(fd);
        setRef(fd, true);
        abandoned.unregister(this);
        state.connection?.release();
    },
    setLimit(limit) {
        generated.setLimit.call(this, limit);
        // The stream obeys the limit also after the caller has closed the object.
        stateOf(this).limit = limitOf(limit)?.clone() ?? null;
    },
    setReadTimeout(seconds) {
        generated.setReadTimeout.call(this, seconds);
        stateOf(this).read = seconds ?? Infinity;
    },
    setWriteTimeout(seconds) {
        generated.setWriteTimeout.call(this, seconds);
        stateOf(this).write = seconds ?? Infinity;
    },
    useTimeout(timeout) {
        generated.useTimeout.call(this, timeout);
        const state = stateOf(this);
        state.read = timeout.readTimeout();
        const total = timeout.configuredTotal();
        state.end = total === Infinity ? Infinity : now() + total - timeout.getConnectDuration();
    },
    async handshake() {
        await drive(this, () => this.handshakeSync());
    },
    /** Reads bytes that are available. Resolves to their number, 0 at the end. */
    async read(buffer) {
        return count(await drive(this, () => this.readSync(buffer)));
    },
    /** Writes all of the data. */
    async write(data) {
        let { memory: left } = dataOf('data', data);
        while (left.length > 0) {
            const { n } = await drive(this, () => {
                const result = this.writeSync(left);
                return result.n > 0 ? { status: Status.OK, n: result.n } : result;
            });
            left = left.subarray(n);
        }
    },
    async writev(slices) {
        for (const slice of slices) await this.write(slice);
    },
    async writeEarlyData(data) {
        return (await drive(this, () => this.writeEarlyDataSync(data))).n;
    },
    async shutdown() {
        await drive(this, () => this.shutdownSync());
    },
    async shutdownBoth() {
        await drive(this, () => this.shutdownBothSync());
    },
    async readResponse(method) {
        return (await drive(this, () => this.readResponseSync(method))).response;
    },
    async readNextResponse(method) {
        return (await drive(this, () => this.readNextResponseSync(method))).response;
    },
    async readBody(decoder, buffer) {
        return count(await drive(this, () => this.readBodySync(decoder, buffer)));
    },
    async readWholeBody(decoder, maxSize) {
        const { body } = await drive(this, () => this.readWholeBodySync(decoder, maxSize));
        try {
            return body.data();
        } finally {
            body.close();
        }
    },
    async discardBody(decoder, maxSize, seconds = null) {
        const before = stateOf(this).limit;
        const limit = new Limit(seconds, before);
        this.setLimit(limit);
        try {
            await drive(this, () => this.discardBodySync(decoder, maxSize, null));
        } finally {
            if (!stateOf(this).isClosed) this.setLimit(before);
            limit.close();
        }
    },
    /** Iterates over the pieces of a response's body. */
    async *body(response) {
        const decoder = new api.BodyDecoder(response);
        try {
            for (;;) {
                const buffer = Buffer.allocUnsafeSlow(65536);
                const n = await this.readBody(decoder, buffer);
                if (n === 0) return;
                yield buffer.subarray(0, n);
            }
        } finally {
            decoder.close();
        }
    },
}));

/** Connects to the server of a URL, and makes the TLS handshake for https. parseUrlStrict parses text and a URL of
 * JavaScript. */
Stream.connect = async function connect(url, context = null, options = null, limit = null) {
    if (typeof url === 'string' || url instanceof URL) url = api.parseUrlStrict(String(url));
    limit = limitOf(limit);
    const [scheme, host] = [url.scheme(), url.host()];
    const isTls = scheme === 'https';
    if (!host || !['http', 'https', null].includes(scheme) || (isTls && !context)) {
        return Stream.connectSync(url, context, options, limit); // fails without a connection
    }
    return connectStream({ host, port: url.portOrDefault(), name: isTls ? host : null, context, options, limit });
};

/** Connects to a host, and makes the TLS handshake if there is a name that the certificate must have. */
async function connectStream({ host, port, name, context, options, limit }) {
    const operation = new Connect(host, port, options);
    let stream = null;
    try {
        const fd = await operation.run(limit);
        try {
            stream = name === null ? Stream.newFd(fd) : api.tlsWrapFd(context, fd, name);
        } catch (error) {
            fs.closeSync(fd);
            throw error;
        }
        new Connection(fd).attach(stream);
        stream.setLimit(limit);
        if (options?.timeoutInUse) stream.useTimeout(options.timeoutInUse);
        else stream.setReadTimeout(api.defaultTimeout());
        await stream.handshake();
        return stream;
    } catch (error) {
        stream?.close();
        throw error;
    } finally {
        operation.close();
    }
}

// ---- Objects that JavaScript converts and iterates.

extend(Url, () => ({
    /** True for a URL with the same text. */
    equals(other) {
        return other instanceof Url && other.toString() === this.toString();
    },
    toJSON() {
        return this.toString();
    },
    /** The URL for util.inspect and console.log, without its password. */
    [inspect.custom](depth, options) {
        return `Url ${isOpen(this) ? options.stylize(this.redacted(), 'string') : '(closed)'}`;
    },
}));

extend(Headers, () => ({
    *[Symbol.iterator]() {
        for (let index = 0; index < this.count(); index++) yield [this.name(index), this.value(index)];
    },
}));

// ---- Attempts.

/** The attempts whose wait has failed. Their requests have ended. */
const stopped = new WeakSet();

const isSame = (error, other) => other instanceof NetlibError && error.report() === other.report();

/** Makes a method that passes the outcome of an attempt to `take`, unless the request has ended. */
function deciding(take) {
    return function decide(response = null, error = null) {
        const info = error?.info ?? error;
        // Another exception says nothing about the request.
        if (info !== null && !(info instanceof ErrorInfo)) throw error;
        if (stopped.has(this)) {
            const ended = 'the request has ended: there is no attempt to decide about';
            if (info === null) throw fromInfo(new ErrorInfo(Status.CLOSED, ended));
            throw info === error ? fromInfo(info) : error;
        }
        try {
            return take.call(this, response, error);
        } catch (failure) {
            // If the error of the caller ends the request, its exception has the stack trace of the failed call.
            throw error instanceof NetlibError && isSame(error, failure) ? error : failure;
        }
    };
}

extend(Attempts, (generated) => ({
    decide: deciding(generated.decide),
    nextSync: deciding(generated.nextSync),
    async next(response = null, error = null) {
        const status = this.decide(response, error);
        if (status !== Status.SEND_AGAIN) return status;
        const [decision, limit] = [this.decision(), this.limit()];
        Handle.use(this, 1);
        try {
            await decision.sleep(limit);
        } catch (failure) {
            stopped.add(this);
            throw failure;
        } finally {
            Handle.use(this, -1);
            decision.close();
            limit?.close();
        }
        return status;
    },
}));

module.exports = { connectStream, tlsAcceptStream, tlsWrapStream, wait, waitForRead, waitForWrite };
