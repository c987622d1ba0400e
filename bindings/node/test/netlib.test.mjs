// Tests of the features that only the Node.js package has. The steps that all languages share are in scenario.mjs.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import tls from 'node:tls';
import { inspect } from 'node:util';
import netlib, {
    Addresses, ArgumentError, Body, BodyDecoder, ConnectOptions, Headers, Limit, Rate, RateOptions, Request, RequestForm, Retry,
    RetryOptions, StateError, Status, Store, Stream, Swap, TimeError, Timeout, TlsContext, TlsEngine, TlsOptions,
    Unavailable, Url, UrlError, Verdict, connectionKey, parseUrl, textToBytes,
} from '../index.mjs';
import { certificate, code, collect, test, withServer } from './helpers.mjs';

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

test('an engine without a session returns null', () =>
    assert.equal(TlsEngine.newClient(new TlsContext(), 'localhost').takeSession(), null));

test('a body is read whole or discarded, and interim responses are returned', async () => {
    const response = 'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
    const serve = (socket) => {
        socket.write(response);
        socket.once('data', () => socket.write('hello' + response));
    };
    await withServer(serve, async (url) => {
        const stream = await Stream.connect(url);
        const next = async () => new BodyDecoder(await stream.readResponse('GET'));
        assert.equal((await stream.readNextResponse('GET')).status(), 103);
        let decoder = await next();
        const body = stream.readWholeBody(decoder, 5);
        await stream.write(Buffer.from('x'));
        assert.deepEqual(await body, Buffer.from('hello'));
        decoder = await next();
        await assert.rejects(stream.discardBody(decoder, 5, 0.01), code('DEADLINE_EXCEEDED'));
        await assert.rejects(stream.readWholeBody(decoder, 4), code('TOO_MUCH_DATA'));
        stream.close();
    });
});

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
