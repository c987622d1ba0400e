// The steps of bindings/scenario.md.
//
// usage: scenario.mjs SERVER CERTIFICATES TAG [STEP...]

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as netlib from './index.mjs';

const {
    Attempts, Body, ConnectOptions, ErrorInfo, ErrorOptions, Headers, Limit, NetlibError, Request, RequestForm,
    Response, Retry, RetryOptions, Status, Stream, Timeout, TlsContext, TlsOptions, Verdict, parseUrl, parseUrlStrict,
} = netlib;

const [server, certificates, tag, ...chosen] = process.argv.slice(2);
const lines = fs.readFileSync(path.join(server, 'ports'), 'utf8').trim().split('\n');
const ports = Object.fromEntries(lines.map((line) => line.split('=')));

function urlOf(port, target, { host = 'localhost', query = tag } = {}) {
    const scheme = ['http', 'mute'].includes(port) ? 'http' : 'https';
    return parseUrlStrict(`${scheme}://${host}:${ports[port]}${target}?${query}`);
}

const tlsOptions = () => new TlsOptions().addCaFile(path.join(server, 'ca.pem'));

/** Sends one request on a new connection. */
async function exchange(request, method, url, { context, options = null, limit = null, body = [] } = {}) {
    const stream = await Stream.connect(url, context ?? new TlsContext(tlsOptions()), options, limit);
    try {
        await stream.write(request.toWire());
        for (const piece of body) await stream.write(piece);
        const response = await stream.readResponse(method);
        const pieces = [];
        for await (const piece of stream.body(response)) pieces.push(piece);
        return { response, body: Buffer.concat(pieces).toString().trimEnd() };
    } finally {
        stream.close();
    }
}

async function get(port, settings = {}) {
    const url = urlOf(port, settings.target ?? '/hello', settings);
    const request = new Request('GET', url, new Headers({ connection: 'close' }), RequestForm.ORIGIN);
    const { response, body } = await exchange(request, 'GET', url, settings);
    return { status: response.status(), body };
}

function* piecesOf(body) {
    const buffer = Buffer.alloc(4);
    for (;;) {
        const { status, n } = body.readSync(buffer);
        if (status === Status.END_OF_STREAM) return;
        yield Buffer.from(buffer.subarray(0, n));
    }
}

/** Repeats a request as the recommended Retry decides, without real waits. */
async function download(done, port, target, { method = 'GET', fields = {}, data = null } = {}) {
    done.waits = [];
    done.attempts = 0;
    const options = RetryOptions.newRecommended().sleep((seconds) => void done.waits.push(seconds)).random(() => 0.5);
    const headers = new Headers({ connection: 'close', ...fields });
    const source = data === null ? null : Body.fromMemory(data);
    const start = source && netlib.setFilePosition(source, netlib.POSITION_NONE);
    const context = new TlsContext(tlsOptions());
    const attempts = new Attempts(new Retry(options), method, urlOf(port, target), headers, source !== null);
    let status;
    do {
        done.attempts += 1;
        done.url = attempts.url();
        try {
            if (attempts.sendsBody()) netlib.rewindBody(source, start);
            const body = attempts.sendsBody() ? piecesOf(source) : [];
            const request = attempts.request(RequestForm.ORIGIN);
            const received = await exchange(request, attempts.method(), attempts.url(), { context, body });
            status = await attempts.next(received.response);
            if (status === Status.OK) {
                done.status = received.response.status();
                done.body = received.body;
            }
        } catch (error) {
            status = await attempts.next(null, error);
        }
    } while (status === Status.SEND_AGAIN);
    return done;
}

const waited = (done) => done.waits.map((seconds) => seconds.toFixed(3)).join(',') || '-';
const summary = (done) => `${done.status} ${done.attempts} ${waited(done)} ${done.body.split('\n')[0]}`;

/** The error with which a call fails. */
async function errorOf(call) {
    try {
        await call();
    } catch (error) {
        if (error instanceof NetlibError) return error;
        throw error;
    }
    throw new Error('the call succeeded');
}

async function failedDownload(target) {
    const done = {};
    const error = await errorOf(() => download(done, 'https', target));
    const messages = [error, ...error.causes].map((item) => item.message).join('|');
    return `${error.code} ${done.attempts} ${waited(done)} ${messages}`;
}

const codeOf = async (call) => (await errorOf(call)).code;

const described = (error) =>
    `${error.code} ${error.causes.length} ${error.message}|${(error.advice ?? '-').split(':')[0]}`;

async function handshakeError(port, options) {
    return described(await errorOf(() => Stream.connect(urlOf(port, '/'), new TlsContext(options))));
}

/** Loads a copy of the package with another version, and returns the message of the error. */
function loadOtherVersion() {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'netlib-'));
    try {
        for (const name of ['lib', 'native']) fs.cpSync(name, path.join(directory, name), { recursive: true });
        fs.symlinkSync(path.resolve('node_modules'), path.join(directory, 'node_modules'));
        const api = path.join(directory, 'lib/api.cjs');
        fs.writeFileSync(api, fs.readFileSync(api, 'utf8').replace("declare('0.1.", "declare('0.99."));
        const code = `try { require(${JSON.stringify(api)}) } catch (error) { console.log(error.message) }`;
        return execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' });
    } finally {
        fs.rmSync(directory, { recursive: true });
    }
}

const steps = {
    version: () => netlib.version().split('.').slice(0, 2).join('.'),
    'version-refused'() {
        const message = loadOtherVersion();
        return message.includes('0.99') && message.includes(netlib.version()) ? 'refused' : message;
    },
    'url-parse'() {
        const url = parseUrl('HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f');
        return [url.scheme(), url.auth(), url.host(), url.port(), url.path(), url.query(), url.fragment(), url].join('|');
    },
    'url-resolve'() {
        const base = parseUrl('http://a/b/c/d;p?q');
        return ['g', '../g', '//g', '?y'].map((reference) => base.resolve(reference)).join(' ');
    },
    async 'url-error'() {
        const error = await errorOf(() => parseUrlStrict('http://exa mple.com/'));
        return `${error.code} ${error.offset} ${error.message}`;
    },
    async 'url-nul'() {
        const error = await errorOf(() => parseUrl('http://a.example\0.b/'));
        return `${error.code} ${error.offset} ${error.message}`;
    },
    async 'host-nul'() {
        try {
            fs.closeSync(await netlib.createConnection('127.0.0.1\0.b', Number(ports.http)));
            return 'connected';
        } catch (error) {
            return error instanceof TypeError && error.message.includes('NUL') ? 'refused' : String(error);
        }
    },
    'truth-values'() {
        const url = parseUrl('https://example.com:8443/');
        const retry = new Retry(new RetryOptions().raiseOnStatus(false).raiseOnRedirect(true));
        return [
            url.sameOrigin(parseUrl('https://example.com:8443/x')), url.sameOrigin(parseUrl('https://example.com/')),
            retry.raiseOnStatus(), retry.raiseOnRedirect(),
        ].join(' ');
    },
    'retry-reset': async () => summary(await download({}, 'https', '/reset-after-head')),
    'retry-after': async () => summary(await download({}, 'https', '/busy-once')),
    async 'retry-redirect'() {
        const fields = { authorization: 'Basic dTpw', 'x-one': '1' };
        const done = await download({}, 'https', '/redirect-other-origin', { fields });
        const received = (name) => done.body.match(new RegExp(`^${name}: *(.*)$`, 'im'))?.[1] ?? 'absent';
        const headers = ['authorization', 'x-one'].map((name) => `${name}=${received(name)}`).join(' ');
        return `${done.status} ${done.attempts} ${waited(done)} ${done.url.path()} ${headers}`;
    },
    'retry-exhausted': () => failedDownload('/hang-up'),
    'retry-stopped': () => failedDownload('/come-back-tomorrow'),
    async 'body-again'() {
        const settings = { method: 'PUT', fields: { 'content-length': '10' }, data: '0123456789' };
        const done = await download({}, 'https', '/reset-after-request', settings);
        return `${done.status} ${done.attempts} ${waited(done)} ${done.body.split('\n').at(-1)}`;
    },
    'tls-get': async () => summary(await download({}, 'https', '/hello')),
    'tls-wrong-name': () => handshakeError('wronghost', tlsOptions()),
    'tls-expired': () => handshakeError('expired', tlsOptions().wallClock(() => 2000000000)),
    'tls-untrusted': () => handshakeError('untrusted', tlsOptions()),
    async 'tls-client'() {
        const [chain, key] = ['client.pem', 'client.key'].map((name) => path.join(certificates, name));
        const { status, body } = await get('clients', { context: new TlsContext(tlsOptions().identityFiles(chain, key)) });
        return `${status} ${body}`;
    },
    async 'tls-client-missing'() {
        return described(await errorOf(() => get('clients')));
    },
    async 'tls-fingerprint'() {
        const stream = await Stream.connect(urlOf('https', '/'), new TlsContext(tlsOptions()));
        const certificate = stream.peerCertificate(0);
        stream.close();
        netlib.assertFingerprint(certificate, fs.readFileSync(path.join(server, 'sha256'), 'utf8').trim());
        return `true ${await codeOf(() => netlib.assertFingerprint(certificate, '0'.repeat(64)))}`;
    },
    'tls-pin'() {
        const context = new TlsContext(tlsOptions().addPin(`sha256//${'A'.repeat(43)}=`));
        return codeOf(() => Stream.connect(urlOf('https', '/'), context));
    },
    async fifty() {
        const context = new TlsContext(tlsOptions());
        const all = Array.from({ length: 50 }, () => get('http', { target: '/when-fifty-ask', context }));
        return (await Promise.all(all)).filter(({ status }) => status === 200).length;
    },
    deadline: () => codeOf(() => get('mute', { limit: new Limit(0.05) })),
    cancel() {
        const limit = new Limit(30);
        setTimeout(() => limit.cancel(), 100);
        return codeOf(() => get('mute', { limit }));
    },
    'callback-clock'() {
        let now = 100;
        const timeout = new Timeout(10, null, null);
        timeout.setClock(() => now);
        timeout.startConnect();
        now = 103;
        return timeout.readTimeout().toFixed(3);
    },
    async 'callback-resolve'() {
        const hosts = [];
        const address = Buffer.alloc(16);
        address[os.endianness() === 'LE' ? 0 : 1] = 2; // AF_INET
        address.set([127, 0, 0, 1], 4);
        const options = new ConnectOptions().resolveCallback((host, port, secondsLeft, addresses) => {
            hosts.push(host);
            addresses.add(address);
        });
        const { status, body } = await get('http', { options, host: 'a.test' });
        return `${hosts} ${status} ${body}`;
    },
    async 'callback-address'() {
        const got = [];
        const options = new ConnectOptions().addressCallback((address, classes) => {
            got.push(classes);
            return Verdict.REFUSE;
        });
        return `${await codeOf(() => get('https', { options, host: '127.0.0.1' }))} ${got}`;
    },
    async 'callback-raises'() {
        const thrown = new RangeError('this address is refused');
        const options = new ConnectOptions().addressCallback(() => {
            throw thrown;
        });
        const query = `${tag}-refused`;
        const caught = await get('http', { options, query }).catch((error) => error);
        const requests = fs.readFileSync(path.join(server, 'requests'), 'utf8').split('\n');
        return `${caught === thrown ? 'same' : caught} ${requests.filter((line) => line.includes(query)).length}`;
    },
    async 'callback-collected'() {
        const record = [];
        const make = () => new Retry(RetryOptions.newRecommended().sleep((seconds) => void record.push(seconds)));
        const retry = make();
        await setImmediate();
        globalThis.gc();
        await setImmediate();
        const response = new Response('GET', 503, new Headers({ 'retry-after': '1' }));
        await retry.decide('GET', parseUrl('http://localhost/'), response).sleep();
        return record.map((seconds) => seconds.toFixed(3)).join(',');
    },
    async 'key-log'() {
        const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'netlib-'));
        const file = path.join(directory, 'keys');
        await get('https', { context: new TlsContext(tlsOptions().keylogFile(file)) });
        const [word] = fs.readFileSync(file, 'utf8').split(' ');
        fs.rmSync(directory, { recursive: true });
        return word;
    },
    async 'user-data'() {
        const failure = new Error('a failure of the application');
        const error = new ErrorInfo(Status.IO, 'the exchange failed', new ErrorOptions().userData(failure));
        const retry = new Retry(new RetryOptions().total(0));
        const raised = await errorOf(() => retry.decide('GET', parseUrl('http://localhost/'), null, error));
        return [raised, ...raised.causes].some(({ info }) => info.userData() === failure) ? 'same' : 'another object';
    },
    async collected() {
        const before = process.memoryUsage.rss();
        for (let number = 0; number < 100_000; number++) {
            parseUrl(`http://localhost/${number}`);
            if (number % 10_000 === 0) {
                globalThis.gc();
                await setImmediate();
            }
        }
        const grown = process.memoryUsage.rss() - before;
        return grown < 32 * 1024 * 1024 ? 'bounded' : `${grown} bytes`;
    },
    fork: () => 'not applicable: Node.js cannot fork without exec',
    async interrupt() {
        const controller = new AbortController();
        process.once('SIGINT', () => controller.abort());
        const start = performance.now();
        spawn('/bin/sh', ['-c', `sleep 0.1; kill -INT ${process.pid}`]);
        const caught = await get('mute', { limit: controller.signal }).catch((error) => error);
        return caught === controller.signal.reason && performance.now() - start < 1000 ? 'interrupted' : caught;
    },
};

for (const name of chosen.length > 0 ? chosen : Object.keys(steps)) {
    let result;
    try {
        result = await steps[name]();
    } catch (error) {
        result = error.stack;
    }
    console.log(`${name}\t${result}`);
}
