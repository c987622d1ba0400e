// Tests of the features that only the Node.js package has. The steps that all languages share are in scenario.mjs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import declare from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { inspect, promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import netlib, {
    Addresses, ArgumentError, Attempts, Body, ConnectOptions, Headers, Limit, NetlibError, Rate, RateOptions, Request,
    RequestForm, Retry, RetryOptions, StateError, Status, Store, Stream, Swap, TimeError, Timeout, TlsContext,
    TlsEngine, TlsOptions, Unavailable, Url, UrlError, Verdict, connectionKey, parseUrl, textToBytes,
} from '../index.mjs';

/** Declares a test, which fails if it does not end. */
const test = (name, body) => declare(name, { timeout: 30_000 }, body);

const code = (name) => (error) => error instanceof NetlibError && error.code === `NETLIB_${name}`;

/** A file of tests/certs. This module is a copy in target/bindings/node/test. */
const certificate = (name) => `${import.meta.dirname}/../../../../tests/certs/${name}`;

/** Runs a server, and closes it after `use`, whose argument is its URL. */
async function withServer(onConnection, use) {
    const sockets = [];
    const server = net.createServer((socket) => {
        sockets.push(socket.on('error', () => {}));
        onConnection(socket);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
        return await use(parseUrl(`http://127.0.0.1:${server.address().port}/`));
    } finally {
        sockets.forEach((socket) => socket.destroy());
        server.close();
    }
}

async function collect() {
    for (let round = 0; round < 5; round++) {
        await turn();
        globalThis.gc();
    }
    await sleep(10);
}

test('ES modules and CommonJS modules get the same classes', () => {
    assert.equal(createRequire(import.meta.url)('../index.cjs').Url, Url);
    assert.equal(netlib.Url, Url);
});

test('the class of a status is the class of the exception', () => {
    assert.throws(() => parseUrl('http://['), UrlError);
    assert.throws(() => new Limit(-5), ArgumentError);
    const limit = new Limit(10);
    limit.cancel();
    assert.throws(() => limit.check(), (error) => error instanceof TimeError && error.status === Status.CANCELLED);
});

test('a call on a closed handle fails with NETLIB_CLOSED', () => {
    const url = parseUrl('http://a/');
    url.close();
    url.close();
    assert.throws(() => url.host(), (error) => error instanceof StateError && code('CLOSED')(error));
});

test('a getter in an argument that closes a handle of the call makes the call fail with NETLIB_CLOSED', () => {
    const options = new RetryOptions();
    const statuses = { get 0() { options.close(); return 503; }, length: 1 };
    assert.throws(() => options.statusForcelist(statuses), code('CLOSED'));
    const url = parseUrl('http://a/');
    const parts = { get 0() { url.close(); return 'part'; }, length: 1 };
    assert.throws(() => connectionKey(url, null, null, null, parts, Buffer.alloc(8)), code('CLOSED'));
    const retry = Retry.recommended();
    const error = { get info() { retry.close(); return new netlib.ErrorInfo(Status.PROTOCOL, 'failed'); } };
    assert.throws(() => retry.decide('GET', parseUrl('http://a/'), null, error), code('CLOSED'));
});

test('Symbol.dispose closes a handle', () => {
    const url = parseUrl('http://a/');
    url[Symbol.dispose]();
    assert.throws(() => url.host(), code('CLOSED'));
});

test('arguments of another type are refused', () => {
    const url = parseUrl('http://a/');
    assert.throws(() => url.sameOrigin(new Headers({})), /must be a Url/);
    assert.throws(() => new Request('GET', null, null, RequestForm.ORIGIN), /must be a Url/);
    assert.throws(() => url.resolve(null), TypeError);
    assert.throws(() => new TlsOptions().resumption(1), /must be true or false/);
    assert.throws(() => new RetryOptions().total(1.5), TypeError);
    assert.throws(() => new RetryOptions().total(2 ** 31), RangeError);
    assert.throws(() => new RetryOptions().sleep('text'), TypeError);
    assert.throws(() => parseUrl(5), TypeError);
});

test('a NUL in a header value or a file name is refused', () => {
    assert.throws(() => new Headers({ a: 'b\0c' }), /has a NUL at index 1/);
    assert.throws(() => new TlsOptions().addCaFile('a\0b'), /path has a NUL at index 1/);
});

test('a setter throws its error at once', () => {
    assert.throws(() => new RetryOptions().backoffFactor(-1), code('INVALID_ARGUMENT'));
});

test('bytes that are not UTF-8 survive', () => {
    const name = parseUrl('http://%61%ff%c3%a9@a/').username();
    assert.equal(name, 'a\udcff\u00e9');
    assert.deepEqual([...textToBytes(name)], [0x61, 0xff, 0xc3, 0xa9]);
    assert.throws(() => textToBytes('\ud800'), TypeError);
});

test('short, long and empty text with any characters survives', () => {
    const table = ['', 'a', '\u00e9', '\u20ac\ud83d\ude00', 'a\ufffdb', 'a\udcffb', 'a\0b', 'x'.repeat(10_000), '\u00e9'.repeat(5000)];
    const query = netlib.Query.parse('', netlib.QueryFormat.FORM);
    for (const value of table) query.append(value, Buffer.concat([textToBytes(value)]));
    const found = table.map((_, index) => [query.name(index), query.value(index)]);
    assert.deepEqual(found, table.map((value) => [value, value]));
    assert.equal(parseUrl(`http://a/${'x'.repeat(10_000)}`).path().length, 10_001);
});

test('empty text differs from absent text', () => {
    assert.equal(new Url('http', null, 'a', -1, null, '').query(), '');
    assert.equal(new Url('http', null, 'a', -1).query(), null);
    const query = netlib.Query.parse('', netlib.QueryFormat.FORM);
    query.append('a', '');
    query.append('b', null);
    assert.equal(query.toString(), 'a=&b');
});

test('URLs are equal by their text, convert to it, and print without a password', () => {
    const [text, redacted] = ['http://user:secret@a/x', 'http://***@a/x'];
    const url = parseUrl('HTTP://user:secret@A/x');
    assert.deepEqual([`${url}`, url.toString(), JSON.stringify({ url })], [text, text, `{"url":"${text}"}`]);
    for (const [other, expected] of [[parseUrl(text), true], [url, true], [parseUrl('http://a/x'), false], [text, false], [null, false]]) {
        assert.equal(url.equals(other), expected, String(other));
    }
    assert.equal(inspect(url), `Url ${redacted}`);
    assert.equal(inspect({ url }), `{ url: Url ${redacted} }`);
    url.close();
    assert.equal(inspect(url), 'Url (closed)');
});

test('the messages and the advice of errors name functions of JavaScript', async () => {
    const self = { cert: fs.readFileSync(certificate('self-signed.pem')), key: fs.readFileSync(certificate('self-signed.key')) };
    const secured = (socket) => new tls.TLSSocket(socket, { isServer: true, ...self }).on('error', () => {});
    await withServer(secured, async (url) => {
        const context = new TlsContext(new TlsOptions().systemTrust(false).addCaFile(certificate('ca.pem')));
        const error = await Stream.connect(`https://localhost:${url.port()}/`, context).catch((failure) => failure);
        assert.match(error.info.advice(), /netlib_tls_options_add_ca_file/);
        assert.equal(error.advice, error.info.advice().replace('netlib_tls_options_add_ca_file', 'TlsOptions.addCaFile'));
        assert.match(error.report(), /TlsOptions\.addCaFile/);
        assert.doesNotMatch(error.report(), /netlib_/);
    });
    const table = [
        [() => new TlsOptions().ciphers('nothing'), 'TlsOptions.ciphers'],
        [() => new TlsOptions().minimumVersion(5), 'TlsVersion'],
    ];
    for (const [call, expected] of table) {
        assert.throws(call, (error) => error.message.includes(expected) && !error.message.includes('netlib_'), expected);
    }
});

test('the documentation names only what the package has', () => {
    const text = fs.readFileSync(`${import.meta.dirname}/../index.d.cts`, 'utf8');
    const comments = text.match(/\/\*\*[^]*?\*\//g).join('\n').replaceAll(/"[^"]*"/g, '');
    assert.deepEqual(comments.match(/\bnetlib_\w+|\bNULL\b/g), null);
    const declared = (name) => new RegExp(`^export declare [a-z]+ (class |namespace )?${name}\\b|^export type ${name}\\b`, 'm').test(text);
    let found = 0;
    for (const [, owner, member] of comments.matchAll(/`(?:new )?([A-Z]\w+)\.(\w+)`/g)) {
        // The names of Python and urllib3.
        if (owner.startsWith('SSL') || `${owner}.${member}` === 'Retry.DEFAULT') continue;
        const cls = netlib[owner];
        assert.ok(cls && (member in cls || member in (cls.prototype ?? {})), `${owner}.${member}`);
        found += 1;
    }
    for (const [, name] of comments.matchAll(/`([A-Z]\w+Callback)`/g)) assert.ok(declared(name), name);
    assert.ok(found > 1000, `${found} names`);
});

test('headers convert to pairs', () => {
    const pairs = [['a', '1'], ['b', '2'], ['a', '3']];
    assert.deepEqual([...new Headers(pairs)], pairs);
    assert.deepEqual([...new Headers(new Map([['x', 'y']]))], [['x', 'y']]);
});

test('a body larger than 2^31 has its exact length', () => {
    const response = netlib.Response.parse('GET', 'HTTP/1.1 200 OK\r\nContent-Length: 9007199254740993\r\n\r\n', 0n);
    const decoder = new netlib.BodyDecoder(response.response);
    assert.equal(decoder.bytesLeft(), 9007199254740993n);
});

test('a connection is made to a text and to a URL of JavaScript', () =>
    withServer((socket) => socket.end('x'), async (url) => {
        for (const target of [String(url), new URL(String(url)), url]) {
            const stream = await Stream.connect(target);
            assert.equal(await stream.read(Buffer.alloc(9)), 1);
            stream.close();
        }
        await assert.rejects(Stream.connect('http://['), code('INVALID_URL'));
    }));

test('a stream that is always ready lets the event loop run', async () => {
    const [size, piece] = [16 << 20, Buffer.alloc(16384)];
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    const uses = {
        async body(stream) {
            for await (const part of stream.body(await stream.readResponse('GET'))) assert.ok(part.length > 0);
        },
        async read(stream) {
            for (let read = 0; read < size; read += piece.length) await stream.read(Buffer.alloc(piece.length));
        },
        async write(stream) {
            for (let written = 0; written < size; written += piece.length) await stream.write(piece);
        },
    };
    for (const [name, use] of Object.entries(uses)) {
        let rest = head;
        const stream = Stream.newCallbacks(
            (buffer) => {
                if (rest.length === 0) return buffer.fill('x').length;
                const part = rest.subarray(0, buffer.length);
                buffer.set(part);
                rest = rest.subarray(part.length);
                return part.length;
            },
            (data) => data.length,
        );
        let [turns, isRunning] = [0, true];
        const count = () => {
            turns += 1;
            if (isRunning) setImmediate(count);
        };
        setImmediate(count);
        await use(stream);
        isRunning = false;
        stream.close();
        assert.ok(turns >= size / (256 << 10) - 1, `${name}: ${turns} turns`);
    }
});

test('an abort rejects with the reason of the signal, and leaves no listener', () =>
    withServer(() => {}, async (url) => {
        const stream = await Stream.connect(url);
        const response = answer(503, { 'retry-after': '20' });
        const decision = Retry.recommended().decide('GET', url, response);
        const [fd, plain] = [stream.fd(), await netlib.createConnection(url.host(), url.port())];
        const context = new TlsContext(new TlsOptions().systemTrust(false).embeddedTrust(true));
        const follow = async (signal, call) => {
            stream.setLimit(signal);
            try {
                return await call();
            } finally {
                stream.setLimit(null);
            }
        };
        const table = {
            wait: (signal) => netlib.wait(fd, false, null, signal),
            waitForRead: (signal) => netlib.waitForRead(fd, null, signal),
            'a child of the signal': (signal) => netlib.waitForRead(fd, null, new Limit(20, signal)),
            'Decision.sleep': (signal) => decision.sleep(signal),
            'Retry.sleep': (signal) => Retry.recommended().sleep(response, signal),
            'Retry.sleepForRetry': (signal) => Retry.recommended().sleepForRetry(response, signal),
            'Attempts.next': (signal) => attemptsOf({ limit: signal }).next(response),
            'Stream.read': (signal) => follow(signal, () => stream.read(Buffer.alloc(1))),
            'Stream.readResponse': (signal) => follow(signal, () => stream.readResponse('GET')),
            'a function on a thread': (signal) => netlib.sslWrapSocket(plain, null, context, 'localhost', signal),
            'Stream.connect': (signal) => Stream.connect(`https://${url.authority()}/`, context, null, signal),
        };
        for (const [name, call] of Object.entries(table)) {
            for (const reason of [undefined, new RangeError('stop'), 'text']) {
                const controller = new AbortController();
                const { signal } = controller;
                const result = call(signal).then(() => 'no failure', (error) => error);
                await turn();
                controller.abort(reason);
                assert.equal(await result, signal.reason, name);
                assert.equal(signal.reason.name, reason === undefined ? 'AbortError' : reason.name, name);
                assert.equal(getEventListeners(signal, 'abort').length, 0, name);
                assert.equal(await call(signal).catch((error) => error), signal.reason, `${name}, already aborted`);
            }
        }
        const late = await netlib.waitForRead(fd, null, AbortSignal.timeout(10)).catch((error) => error);
        assert.equal(late.name, 'TimeoutError');
        stream.close();
        fs.closeSync(plain);
    }));

test('an aborted signal ends the calls that block', () => {
    const signal = AbortSignal.abort(new RangeError('stop'));
    assert.throws(() => netlib.waitForReadSync(0, 1, signal), signal.reason);
    assert.throws(() => new Limit(5, signal).check(), signal.reason);
    assert.throws(() => Retry.recommended().sleepSync(answer(503, { 'retry-after': '20' }), signal), signal.reason);
});

test('1000 calls with one signal leave no listener', () =>
    withServer((socket) => socket.on('data', () => socket.write('x')), async (url) => {
        const { signal } = new AbortController();
        const most = { listeners: 0 };
        const stream = await Stream.connect(url, null, null, signal);
        for (let round = 0; round < 1000; round++) {
            await stream.write('x');
            const read = stream.read(Buffer.alloc(1));
            await turn();
            most.listeners = Math.max(most.listeners, getEventListeners(signal, 'abort').length);
            assert.equal(await read, 1);
            await netlib.waitForWrite(stream.fd(), 1, signal);
        }
        assert.deepEqual([most.listeners, getEventListeners(signal, 'abort').length], [1, 0]);
        stream.close();
    }));

test('a stream obeys only its last limit, also if the caller has closed the object', () =>
    withServer((socket) => socket.on('data', () => socket.write('x')), async (url) => {
        const [first, second] = [new AbortController(), new AbortController()];
        const stream = await Stream.connect(url, null, null, first.signal);
        const limit = new Limit(0.05);
        stream.setLimit(limit);
        limit.close();
        first.abort();
        await assert.rejects(stream.read(Buffer.alloc(1)), code('DEADLINE_EXCEEDED'));
        stream.setLimit(second.signal);
        await stream.write('x');
        assert.equal(await stream.read(Buffer.alloc(1)), 1);
        second.abort();
        await assert.rejects(stream.write('x'), { name: 'AbortError' });
        stream.close();
    }));

test('Limit.cancel ends the waits of the limit, its clones and its children, and no others', () =>
    withServer(() => {}, async (url) => {
        const stream = await Stream.connect(url);
        const parent = new Limit(100);
        const [child, sibling, other] = [new Limit(null, parent), new Limit(20, parent), new Limit(20)];
        const ends = (limit, timeout) => netlib.waitForRead(stream.fd(), timeout, limit).catch((error) => error.code);
        const waits = [child, child.clone(), new Limit(100, child)].map((limit) => ends(limit, null));
        waits.push(...[parent, sibling, other].map((limit) => ends(limit, 0.2)));
        child.cancel();
        const cancelled = 'NETLIB_CANCELLED';
        assert.deepEqual(await Promise.all(waits), [cancelled, cancelled, cancelled, false, false, false]);
        stream.close();
    }));

test('20 terminated workers leave no descriptor', () => {
    const program = `
        const { parentPort, workerData: { url, name } } = require('node:worker_threads');
        const netlib = require(${JSON.stringify(createRequire(import.meta.url).resolve('../index.cjs'))});
        process.on('warning', (warning) => { throw warning; });
        ({
            async loaded() {},
            async connected() { globalThis.stream = await netlib.Stream.connect(url); },
            async reading() {
                const limit = new netlib.Limit(20);
                const stream = await netlib.Stream.connect(url, null, null, limit);
                stream.read(Buffer.alloc(1));
            },
            async aborting() {
                const stream = await netlib.Stream.connect(url, null, null, new AbortController().signal);
                stream.read(Buffer.alloc(1));
            },
            async closed() { (await netlib.Stream.connect(url)).close(); },
            async descriptor() { globalThis.fd = await netlib.createConnection('127.0.0.1', Number(new URL(url).port)); },
        })[name]().then(() => parentPort.postMessage('ready'));`;
    const open = () => fs.readdirSync('/proc/self/fd').length;
    let accepted = 0;
    return withServer(() => void accepted++, async (url) => {
        for (const name of ['loaded', 'connected', 'reading', 'aborting', 'closed', 'descriptor']) {
            const counts = [];
            for (let round = 0; round < 21; round++) {
                const worker = new Worker(program, { eval: true, workerData: { url: String(url), name } });
                await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject));
                await worker.terminate();
                counts.push(open());
            }
            // The server closes its side of a connection a little later.
            assert.ok(counts[20] < counts[0] + 10, `${name}: ${counts}`);
        }
        assert.ok(accepted >= 100);
    });
});

test('a worker may be terminated during a wait, in a process that does not use the package otherwise', () =>
    withServer(() => {}, async (url) => {
        const program = `
            const { Worker } = require('node:worker_threads');
            const code = \`
                const netlib = require(${JSON.stringify(createRequire(import.meta.url).resolve('../index.cjs'))});
                const { parentPort } = require('node:worker_threads');
                netlib.Stream.connect('${url}').then((stream) => {
                    stream.read(Buffer.alloc(1));
                    parentPort.postMessage('ready');
                });\`;
            const worker = new Worker(code, { eval: true });
            worker.on('message', async () => {
                await worker.terminate();
                process.stdout.write('terminated');
            });`;
        const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
        assert.equal(stdout, 'terminated');
    }));

test('the read timeout ends a read, and the error may be retried as a read error', () =>
    withServer(() => {}, async (url) => {
        const timeout = new Timeout(null, null, 0.05);
        const stream = await Stream.connect(url, null, new ConnectOptions().useTimeout(timeout));
        const error = await stream.read(Buffer.alloc(1)).catch((failure) => failure);
        assert.equal(error.code, 'NETLIB_READ_TIMEOUT');
        assert.equal(error.info.retryKind(), netlib.RetryKind.READ);
        stream.close();
    }));

test('closing a stream rejects its reads and closes the connection', () =>
    withServer(() => {}, async (url) => {
        const stream = await Stream.connect(url);
        const fd = stream.fd();
        const read = stream.read(Buffer.alloc(1));
        stream.close();
        await assert.rejects(read, code('CLOSED'));
        assert.throws(() => fs.fstatSync(fd), { code: 'EBADF' });
    }));

test('the garbage collector closes the connection of a stream', () =>
    withServer(() => {}, async (url) => {
        const fd = await (async () => (await Stream.connect(url)).fd())();
        await collect();
        assert.throws(() => fs.fstatSync(fd), { code: 'EBADF' });
    }));

test('a stream reads and writes 8 MiB at the same time', () =>
    withServer((socket) => socket.pipe(socket), async (url) => {
        const stream = await Stream.connect(url);
        const data = Buffer.alloc(8 << 20, 'abcdefg');
        const received = [];
        const reading = (async () => {
            for (let left = data.length; left > 0;) {
                const buffer = Buffer.alloc(65536);
                const n = await stream.read(buffer);
                received.push(buffer.subarray(0, n));
                left -= n;
            }
        })();
        await Promise.all([stream.write(data), reading]);
        assert.ok(Buffer.concat(received).equals(data));
        stream.close();
    }));

test('a write waits until the peer reads', () => {
    const received = [];
    let end = null;
    const ended = new Promise((resolve) => void (end = resolve));
    return withServer((socket) => socket.on('data', (part) => received.push(part)).on('end', end), async (url) => {
        const stream = await Stream.connect(url);
        // More than the buffers of the socket hold. The server reads in this event loop, which a write must not block.
        const data = Buffer.alloc(32 << 20, 'abcdefg');
        await stream.write(data);
        stream.close();
        await ended;
        assert.ok(Buffer.concat(received).equals(data));
    });
});

test('a waiting read does not block the event loop', () =>
    withServer(() => {}, async (url) => {
        const stream = await Stream.connect(url, null, null, new Limit(0.2));
        let turns = 0;
        const timer = setInterval(() => turns++, 10);
        await assert.rejects(stream.read(Buffer.alloc(1)), code('DEADLINE_EXCEEDED'));
        clearInterval(timer);
        assert.ok(turns >= 3, `${turns} turns`);
        stream.close();
    }));

test('contexts are made on a thread, and options may be closed meanwhile', async () => {
    const options = new TlsOptions().systemTrust(false).embeddedTrust(true);
    const making = TlsContext.create(options);
    options.close();
    assert.throws(() => options.check(), code('CLOSED'));
    assert.ok((await making) instanceof TlsContext);
});

test('options that a thread uses are busy', async () => {
    const options = new TlsOptions();
    const making = TlsContext.create(options);
    assert.throws(() => options.check(), code('BUSY'));
    await making;
    options.check();
});

test('the exception of a callback on a thread rejects the promise', () =>
    withServer(() => {}, async (url) => {
        const options = new ConnectOptions().addressCallback(() => {
            throw new RangeError('refused');
        });
        await assert.rejects(netlib.createConnection(url.host(), url.port(), options), new RangeError('refused'));
        const allowed = new ConnectOptions().addressCallback(() => Verdict.ALLOW);
        fs.closeSync(await netlib.createConnection(url.host(), url.port(), allowed));
        const denied = new ConnectOptions().addressCallback(() => Verdict.REFUSE);
        await assert.rejects(netlib.createConnection(url.host(), url.port(), denied), code('ADDRESS_REFUSED'));
    }));

test('options are not busy after a call for which koffi has no thread', async () => {
    const all = Array.from({ length: 1000 }, () => new TlsOptions().systemTrust(false));
    const results = await Promise.allSettled(all.map((options) => TlsContext.create(options)));
    assert.ok(results.some(({ reason }) => /Too many asynchronous calls/.test(reason)));
    for (const options of all) options.check();
});

test('each call on a thread rejects with the exception of its own callback', () =>
    withServer(() => {}, async (url) => {
        /** Makes a connection. Returns the exception, or null if the call succeeds. */
        const connect = async (callback, port, makeOptions) => {
            const options = makeOptions(new ConnectOptions().addressCallback(callback));
            try {
                fs.closeSync(await netlib.createConnection(url.host(), port, options, null));
                return null;
            } catch (error) {
                return error;
            }
        };
        let count = 0;
        for (const makeOptions of [(options) => options, (options) => options.clone()]) {
            for (let round = 0; round < 10; round++) {
                const calls = Array.from({ length: 210 }, async () => {
                    const kind = count++ % 7;
                    if (kind === 0) {
                        const own = new RangeError(`refused by ${count}`);
                        const throwOwn = () => {
                            throw own;
                        };
                        assert.equal(await connect(throwOwn, url.port(), makeOptions), own);
                    } else if (kind === 1) {
                        // No server listens on this port.
                        const failed = await connect(() => Verdict.ALLOW, 1, makeOptions);
                        assert.ok(code('CONNECT_FAILED')(failed), failed);
                    } else if (kind === 2) {
                        const failed = await connect(() => Verdict.REFUSE, url.port(), makeOptions);
                        assert.ok(code('ADDRESS_REFUSED')(failed), failed);
                    } else {
                        assert.equal(await connect(() => Verdict.ALLOW, url.port(), makeOptions), null);
                    }
                });
                await Promise.all(calls);
            }
        }
    }));

test('calls on threads that share a callback take exceptions only if the callback failed', () =>
    withServer(() => {}, async (url) => {
        const thrown = [];
        const shared = new ConnectOptions().addressCallback((address) => {
            // The port in the sockaddr_in.
            if (address.readUInt16BE(2) === 1) return Verdict.ALLOW;
            thrown.push(new RangeError(`refused by ${thrown.length}`));
            throw thrown.at(-1);
        });
        const caught = [];
        await Promise.all(Array.from({ length: 200 }, async (_, index) => {
            const port = index % 2 === 0 ? url.port() : 1;
            const error = await netlib.createConnection(url.host(), port, shared.clone()).catch((failure) => failure);
            if (port === 1) assert.ok(code('CONNECT_FAILED')(error), error);
            else caught.push(error);
        }));
        assert.equal(thrown.length, 100);
        assert.deepEqual(new Set(caught), new Set(thrown));
    }));

test('bodies that are read on threads reject with the exceptions of their own callbacks', async () => {
    await Promise.all(Array.from({ length: 200 }, async (_, index) => {
        const own = new RangeError(`refused by ${index}`);
        const body = new Body((buffer) => {
            if (index % 3 !== 0) return buffer.length;
            throw own;
        });
        const result = await body.read(Buffer.alloc(4)).catch((error) => error);
        if (index % 3 === 0) assert.equal(result, own);
        else assert.equal(result.n, 4);
    }));
});

test('TLS handshakes on threads reject with the exceptions of the callbacks of their contexts', async () => {
    const identity = { cert: fs.readFileSync(certificate('server.pem')), key: fs.readFileSync(certificate('server.key')) };
    const secured = (socket) => new tls.TLSSocket(socket, { isServer: true, ...identity }).on('error', () => {});
    await withServer(secured, async (url) => {
        await Promise.all(Array.from({ length: 50 }, async (_, index) => {
            const own = new RangeError(`no clock ${index}`);
            const options = new TlsOptions().systemTrust(false).addCaFile(certificate('ca.pem')).wallClock(() => {
                throw own;
            });
            const context = await TlsContext.create(options);
            const fd = await netlib.createConnection(url.host(), url.port());
            const call = netlib.sslWrapSocket(fd, null, context, 'localhost');
            assert.equal(await call.catch((error) => error), own);
            fs.closeSync(fd);
        }));
    });
});

test('an exception of a callback inside a callback reaches the outer call', () => {
    const inner = new Retry(RetryOptions.newRecommended().random(() => {
        throw new RangeError('inner');
    }));
    const response = new netlib.Response('GET', 503, new Headers({}));
    const decide = (retry) => retry.decide('GET', parseUrl('http://a/'), response);
    const outer = new Retry(RetryOptions.newRecommended().random(() => {
        assert.throws(() => decide(inner), new RangeError('inner'));
        return decide(inner) && 0.5;
    }));
    assert.throws(() => decide(outer), new RangeError('inner'));
    const catching = new Retry(RetryOptions.newRecommended().random(() => {
        assert.throws(() => decide(inner), new RangeError('inner'));
        return 0.5;
    }));
    assert.equal(decide(catching).delay(), 0.05);
    assert.equal(decide(new Retry(RetryOptions.newRecommended().random(() => 0.5))).delay(), 0.05);
});

for (const [name, returns, act] of [
    ['succeeds', true, () => {}],
    ['throws another one', false, () => {
        throw new RangeError('second');
    }],
    ['makes a call that fails', true, () => assert.throws(() => parseUrl('http://['), UrlError)],
]) {
    test(`the exception of a callback is thrown if a later callback of the call ${name}`, async () => {
        const options = () => new TlsOptions().systemTrust(false).addCaFile(certificate('ca.pem'));
        const server = options().identityFiles(certificate('server.pem'), certificate('server.key'));
        server.servernameCallback(() => {
            throw new RangeError('first');
        });
        const near = TlsEngine.newClient(new TlsContext(options()), 'localhost');
        near.handshake();
        // The second callback sends an alert.
        const written = [];
        let hasReturned = false;
        const stream = netlib.tlsAcceptCallbacks(new TlsContext(server), (buffer) => near.drain(buffer), (data) => {
            written.push(data[0]);
            act();
            hasReturned = true;
            return data.length;
        });
        await assert.rejects(Promise.resolve().then(() => stream.handshake()), new RangeError('first'));
        assert.deepEqual([written, hasReturned], [[21], returns]);
        // The exception does not reach a later call.
        assert.throws(() => parseUrl('http://['), UrlError);
    });
}

test('a callback that returns a value of another type fails', async () =>
    withServer(() => {}, async (url) => {
        const options = new ConnectOptions().addressCallback(() => true);
        await assert.rejects(Stream.connect(url, null, options), TypeError);
    }));

test('a handle that a callback got is closed after the callback', async () => {
    let kept = null;
    const options = new ConnectOptions().resolveCallback((host, port, seconds, addresses) => {
        assert.ok(addresses instanceof Addresses);
        kept = addresses;
    });
    await assert.rejects(Stream.connect(parseUrl('http://a.test/'), null, options), code('NAME_RESOLUTION'));
    assert.throws(() => kept.count(), code('CLOSED'));
});

test('a handle that a throwing callback got is closed', () => {
    let kept = null;
    const options = new ConnectOptions().resolveCallback((host, port, seconds, addresses) => {
        kept = addresses;
        throw new RangeError('no addresses');
    });
    assert.throws(() => netlib.createConnectionSync('a.test', 80, options), new RangeError('no addresses'));
    assert.throws(() => kept.count(), code('CLOSED'));
});

test('a callback that returns a promise fails', () => {
    const options = new ConnectOptions().resolveCallback(async () => {});
    assert.throws(() => netlib.createConnectionSync('a.test', 80, options), /must not return a promise/);
});

test('a callback returns a result and two numbers', () => {
    const words = new Map();
    const store = new Store((key, expected, desired) => {
        const word = words.get(key) ?? 0;
        if (BigInt(word) !== BigInt(expected)) return [Swap.CHANGED, word, 100];
        words.set(key, desired);
        return [Swap.SWAPPED, 0, 100];
    }, 1);
    const rate = new Rate(new RateOptions().limit(1, 2).store(store, Unavailable.CLOSED));
    assert.deepEqual([1, 2, 3].map(() => rate.take('a\0b', 1).status), [Status.OK, Status.OK, Status.RATE_LIMITED]);
    assert.deepEqual([...words.keys()], ['rate:a\0b']);
    const wrong = new RateOptions().limit(1, 2).store(new Store(() => [Swap.CHANGED, 'text'], 1), Unavailable.CLOSED);
    assert.throws(() => new Rate(wrong).take('a', 1), /must be an integer/);
});

test('an application-defined body may be read and rewound', () => {
    const data = Buffer.from('0123456789');
    let position = 0;
    const read = (buffer) => {
        const n = data.copy(buffer, 0, position);
        position += n;
        return n;
    };
    const body = new Body(read, () => position, (to) => void (position = Number(to)));
    const start = netlib.setFilePosition(body, netlib.POSITION_NONE);
    const buffer = Buffer.alloc(4);
    assert.deepEqual([body.readSync(buffer).n, buffer.toString()], [4, '0123']);
    netlib.rewindBody(body, start);
    assert.deepEqual([body.readSync(buffer).n, buffer.toString()], [4, '0123']);
    assert.deepEqual([body.readSync(buffer).n, buffer.toString()], [4, '4567']);
    assert.deepEqual([body.readSync(buffer).n, buffer.toString()], [2, '8967']);
});

test('a borrowed handle keeps its lender alive', async () => {
    const response = new netlib.Response('GET', 503, new Headers({}));
    const retry = Retry.recommended().decide('GET', parseUrl('http://a/'), response).retry();
    await collect();
    assert.equal(retry.historyCount(), 1);
});

test('a borrowed handle is closed with its lender', () => {
    const inner = new netlib.ErrorInfo(Status.CLOSED, 'inner');
    const middle = new netlib.ErrorInfo(Status.PROTOCOL, 'middle', new netlib.ErrorOptions().cause(inner));
    const error = new netlib.ErrorInfo(Status.PROTOCOL, 'outer', new netlib.ErrorOptions().cause(middle));
    const decide = () => Retry.recommended().decide('GET', parseUrl('http://a/'), new netlib.Response('GET', 503, new Headers({})));
    const [first, second] = [decide(), decide()];
    const response = new netlib.Response('GET', 200, new Headers({}));
    const table = [
        [error, error.cause(0), (cause) => cause.message()],
        [first, first.url(), (url) => url.host()],
        [second, second.retry(), (retry) => retry.historyCount()],
        [response, response.headers(), (headers) => headers.count()],
    ];
    const causeOfCause = error.cause(0).cause(0);
    assert.equal(causeOfCause.message(), 'inner');
    for (const [lender, borrowed, use] of table) {
        use(borrowed);
        lender.close();
        assert.throws(() => use(borrowed), code('CLOSED'));
    }
    assert.throws(() => causeOfCause.message(), code('CLOSED'));
});

test('a lender that is closed during a call on a thread is freed after the call', async () => {
    const { onThread } = createRequire(import.meta.url)('../lib/runtime.cjs');
    let finish = null;
    const call = { async: (done) => void (finish = done) };
    const [reference, running] = (() => {
        const data = {};
        const options = new netlib.ErrorOptions().cause(new netlib.ErrorInfo(Status.CLOSED, 'inner')).userData(data);
        const error = new netlib.ErrorInfo(Status.PROTOCOL, 'outer', options);
        options.close();
        const promise = onThread(call, [], [error.cause(0)]);
        error.close();
        return [new WeakRef(data), promise];
    })();
    await collect();
    assert.ok(reference.deref());
    finish(null, 0);
    await running;
    await collect();
    assert.equal(reference.deref(), undefined);
});

test('1000 failed calls leave later calls unaffected', () => {
    for (let round = 0; round < 1000; round++) {
        assert.throws(() => netlib.Response.parse('GET', 'HTTP/1.1 200 OK\r\n\r\n', 'bad'), /state must be/);
        assert.throws(() => parseUrl('http://['), UrlError);
    }
    assert.equal(parseUrl('http://a/').host(), 'a');
});

test('a callback is collected after the handles that hold it', async () => {
    const make = () => {
        const callback = () => 0.5;
        return [new WeakRef(callback), new Retry(new RetryOptions().random(callback))];
    };
    const [reference, retry] = make();
    await collect();
    assert.ok(reference.deref());
    retry.close();
    await collect();
    assert.equal(reference.deref(), undefined);
});

test('the request line and the headers are bytes', () => {
    const request = new Request('GET', parseUrl('http://a/'), new Headers({ x: 'y' }), RequestForm.ORIGIN);
    assert.deepEqual(new Headers({ x: 'y' }).toWire(), Buffer.from('x: y\r\n'));
    assert.ok(request.toWire() instanceof Buffer);
    assert.match(request.toWire().toString(), /^GET \/ HTTP\/1\.1\r\n(.*\r\n)*x: y\r\n/);
});

/** An answer to a GET request. */
const answer = (status, fields = {}) => new netlib.Response('GET', status, new Headers(fields));

/** Attempts of a request to http://a/x. The options of the recommended Retry may be changed. */
function attemptsOf({ options = RetryOptions.newRecommended(), method = 'GET', hasBody = false, limit = null } = {}) {
    options.jitterKind(netlib.JitterKind.NONE).backoffFactor(0);
    return new Attempts(new Retry(options), method, parseUrl('http://a/x'), new Headers({ 'x-one': '1' }), hasBody, limit);
}

/** Sends a request until its attempts end. Returns the body of the response. */
async function send(attempts) {
    const pieces = [];
    let status;
    do {
        let stream = null;
        try {
            stream = await Stream.connect(attempts.url());
            await stream.write(attempts.request(RequestForm.ORIGIN).toWire());
            const response = await stream.readResponse(attempts.method());
            status = await attempts.next(response);
            if (status === Status.OK) for await (const piece of stream.body(response)) pieces.push(piece);
        } catch (error) {
            status = await attempts.next(null, error);
        } finally {
            stream?.close();
        }
    } while (status === Status.SEND_AGAIN);
    return Buffer.concat(pieces).toString();
}

for (const [answers, expected, count] of [
    [['', 'HTTP/1.1 503 Busy\r\n\r\n', 'HTTP/1.1 302 Found\r\nLocation: /y\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\nbody'], 'body', 4],
    [['HTTP/1.1 404 Not Found\r\n\r\nnothing'], 'nothing', 1],
    [['', '', '', ''], 'MAX_RETRY', 4],
    [['nonsense\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbo', 'never'], 'INCOMPLETE_READ', 2],
]) {
    test(`a request whose answers are ${JSON.stringify(answers)} ends after ${count} attempts`, () => {
        const left = [...answers];
        return withServer((socket) => socket.once('data', () => socket.end(left.shift())), async (url) => {
            const retry = new Retry(RetryOptions.newRecommended().backoffFactor(0));
            const sent = send(new Attempts(retry, 'GET', url, null, false));
            if (/^[A-Z]/.test(expected)) await assert.rejects(sent, code(expected));
            else assert.equal(await sent, expected);
            assert.equal(left.length, answers.length - count);
        });
    });
}

test('the URL, the headers, the limit and the decision of an attempt stay valid after the next attempt', async () => {
    const attempts = attemptsOf({ limit: new Limit(100) });
    const [url, headers, limit] = [attempts.url(), attempts.headers(), attempts.limit()];
    assert.equal(attempts.decision(), null);
    assert.equal(await attempts.next(answer(302, { location: 'http://b/y' })), Status.SEND_AGAIN);
    const decision = attempts.decision();
    const moved = attempts.url();
    assert.equal(await attempts.next(answer(503)), Status.SEND_AGAIN);
    attempts.close();
    await collect();
    assert.deepEqual([`${url}`, `${moved}`], ['http://a/x', 'http://b/y']);
    assert.deepEqual([...headers], [['x-one', '1']]);
    assert.equal(decision.action(), netlib.Action.REDIRECT);
    limit.check();
});

test('attempts send no body after a redirect that dropped the body', async () => {
    const attempts = attemptsOf({ method: 'POST', hasBody: true });
    assert.equal(attempts.sendsBody(), true);
    const seen = new netlib.Response('POST', 303, new Headers({ location: '/y' }));
    assert.equal(await attempts.next(seen), Status.SEND_AGAIN);
    assert.deepEqual([attempts.method(), attempts.sendsBody()], ['GET', false]);
    assert.equal(await attempts.next(answer(503)), Status.SEND_AGAIN);
    assert.equal(attempts.sendsBody(), false);
});

const methods = ['next', 'nextSync', 'decide'];

for (const method of methods) {
    test(`Attempts.${method} throws an exception that is not from netlib, and an error after the end, unchanged`, async () => {
        const call = async (attempts, ...outcome) => attempts[method](...outcome);
        const attempts = attemptsOf();
        const closed = parseUrl('http://a/');
        closed.close();
        let ofPackage = null;
        try {
            closed.host();
        } catch (error) {
            ofPackage = error;
        }
        for (const error of [new RangeError('other'), 'text', 0, false, ofPackage]) {
            assert.equal(await call(attempts, null, error).catch((thrown) => thrown), error);
        }
        await assert.rejects(call(attempts), code('INVALID_ARGUMENT'));
        assert.equal(await call(attempts, answer(200)), Status.OK);
        let failure = null;
        try {
            parseUrl('http://[');
        } catch (error) {
            failure = error;
        }
        assert.equal(await call(attempts, null, failure).catch((thrown) => thrown), failure);
        await assert.rejects(call(attempts, null, failure.info), code(failure.code.slice(7)));
        await assert.rejects(call(attempts), code('CLOSED'));
    });

    test(`Attempts.${method} fails after a wait that failed`, async () => {
        const limit = new Limit(100);
        const attempts = attemptsOf({ limit });
        const next = attempts.next(answer(503, { 'retry-after': '20' }));
        setTimeout(() => limit.cancel(), 20);
        await assert.rejects(next, code('CANCELLED'));
        const call = async (...outcome) => attempts[method](...outcome);
        await assert.rejects(call(answer(200)), code('CLOSED'));
        await assert.rejects(call(), code('CLOSED'));
        const failure = await next.catch((error) => error);
        assert.equal(await call(null, failure).catch((error) => error), failure);
        await assert.rejects(call(answer(200), failure.info), code('CANCELLED'));
        const other = new RangeError('other');
        assert.equal(await call(null, other).catch((error) => error), other);
    });
}

test('attempts that wait do not block the event loop, and are busy', async () => {
    const attempts = attemptsOf();
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    const next = attempts.next(answer(503, { 'retry-after': '1' }));
    assert.throws(() => attempts.url(), code('BUSY'));
    await assert.rejects(attempts.next(answer(200)), code('BUSY'));
    assert.equal(await next, Status.SEND_AGAIN);
    clearInterval(timer);
    assert.ok(turns >= 10, `${turns} turns`);
    assert.equal(await attempts.next(answer(200)), Status.OK);
});

test('attempts that get the URL of attempts with a sleep callback wait in the event loop', async () => {
    const first = attemptsOf({ options: RetryOptions.newRecommended().sleep(() => {}) });
    const second = new Attempts(Retry.recommended(), 'GET', first.url(), first.headers(), false);
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    assert.equal(await second.next(answer(503, { 'retry-after': '1' })), Status.SEND_AGAIN);
    clearInterval(timer);
    assert.ok(turns >= 10, `${turns} turns`);
});

test('attempts may be closed during their wait', async () => {
    const attempts = attemptsOf();
    const next = attempts.next(answer(503, { 'retry-after': '1' }));
    attempts.close();
    assert.equal(await next, Status.SEND_AGAIN);
    assert.throws(() => attempts.url(), code('CLOSED'));
});

test('the sleep callback of a Retry waits between the attempts', async () => {
    for (const method of ['next', 'nextSync']) {
        const slept = [];
        const attempts = attemptsOf({ options: RetryOptions.newRecommended().sleep((seconds) => void slept.push(seconds)) });
        for (const seconds of ['7', '8']) {
            assert.equal(await attempts[method](answer(503, { 'retry-after': seconds })), Status.SEND_AGAIN);
        }
        assert.deepEqual(slept, [7, 8]);
        const failing = attemptsOf({ options: RetryOptions.newRecommended().sleep(() => {
            throw new RangeError('no sleep');
        }) });
        const call = async (response) => failing[method](response);
        await assert.rejects(call(answer(503, { 'retry-after': '1' })), new RangeError('no sleep'));
        await assert.rejects(call(answer(200)), code('CLOSED'));
    }
});

test('nextSync waits', () => {
    const attempts = attemptsOf();
    const start = performance.now();
    assert.equal(attempts.nextSync(answer(503, { 'retry-after': '1' })), Status.SEND_AGAIN);
    assert.ok(performance.now() - start >= 990);
    assert.equal(attempts.nextSync(answer(200)), Status.OK);
});
