// Tests of the features that only the Node.js package has. The steps that all languages share are in scenario.mjs.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import declare from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import netlib, {
    Addresses, ArgumentError, Body, ConnectOptions, Headers, Limit, NetlibError, Rate, RateOptions, Request, Retry, RetryOptions,
    StateError, Status, Store, Stream, Swap, TimeError, Timeout, TlsContext, TlsEngine, TlsOptions, Unavailable, Url, UrlError, Verdict,
    connectionKey, parseUrl, textToBytes,
} from '../index.mjs';

/** Declares a test, which fails if it does not end. */
const test = (name, body) => declare(name, { timeout: 30_000 }, body);

const code = (name) => (error) => error instanceof NetlibError && error.code === `NETLIB_${name}`;

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
    assert.throws(() => new Request('GET', null, null, netlib.RequestForm.ORIGIN), /must be a Url/);
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

test('empty text differs from absent text', () => {
    assert.equal(new Url('http', null, 'a', -1, null, '').query(), '');
    assert.equal(new Url('http', null, 'a', -1).query(), null);
    const query = netlib.Query.parse('', netlib.QueryFormat.FORM);
    query.append('a', '');
    query.append('b', null);
    assert.equal(query.toString(), 'a=&b');
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

test('an AbortSignal cancels a call', () =>
    withServer(() => {}, async (url) => {
        const controller = new AbortController();
        const stream = await Stream.connect(url, null, null, controller.signal);
        setTimeout(() => controller.abort(), 20);
        await assert.rejects(stream.readResponse('GET'), code('CANCELLED'));
        stream.close();
        await assert.rejects(Stream.connect(url, null, null, AbortSignal.abort()), code('CANCELLED'));
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
        // This file is a copy in target/bindings/node/test.
        const file = (certificate) => `${import.meta.dirname}/../../../../tests/certs/${certificate}`;
        const options = () => new TlsOptions().systemTrust(false).addCaFile(file('ca.pem'));
        const server = options().identityFiles(file('server.pem'), file('server.key'));
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
    const request = new Request('GET', parseUrl('http://a/'), new Headers({ x: 'y' }), netlib.RequestForm.ORIGIN);
    assert.deepEqual(new Headers({ x: 'y' }).toWire(), Buffer.from('x: y\r\n'));
    assert.ok(request.toWire() instanceof Buffer);
    assert.match(request.toWire().toString(), /^GET \/ HTTP\/1\.1\r\n(.*\r\n)*x: y\r\n/);
});
