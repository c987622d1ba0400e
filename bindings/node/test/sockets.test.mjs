// Tests of the agents and the connector, with node:http, node:https and undici.

import assert from 'node:assert/strict';
import { X509Certificate, createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import {
    AddressClass, ConnectOptions, HttpAgent, HttpsAgent, TlsContext, TlsOptions, Verdict, VerifyMode, connector,
} from '../index.mjs';
import { certificate, test, withServer as withTcpServer } from './helpers.mjs';

const identity = { cert: fs.readFileSync(certificate('server.pem')), key: fs.readFileSync(certificate('server.key')) };
const wrongName = { cert: fs.readFileSync(certificate('wrong-name.pem')), key: fs.readFileSync(certificate('wrong-name.key')) };

/** The pin of a certificate's key. */
function pinOf(pem) {
    const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    return `sha256//${createHash('sha256').update(key).digest('base64')}`;
}

const tlsOptions = () => new TlsOptions().systemTrust(false).addCaFile(certificate('ca.pem'));

/** Runs a server, and closes it after `use`, which gets its URL and the number of its connections. */
async function withServer(use, { onRequest = (incoming, response) => response.end('hello'), tls = identity } = {}) {
    const server = tls ? https.createServer(tls, onRequest) : http.createServer(onRequest);
    server.keepAliveTimeout = 0; // an idle connection stays open
    const state = { connections: 0 };
    server.on('connection', (socket) => {
        state.connections += 1;
        socket.on('error', () => {});
    });
    server.on('tlsClientError', () => {});
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
        return await use(`${tls ? 'https' : 'http'}://localhost:${server.address().port}/`, state);
    } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
    }
}

/** Sends a request with node:http or node:https. */
function request(url, agent, { method = 'GET', body = null, ...others } = {}) {
    return new Promise((resolve, reject) => {
        const { request: make } = url.startsWith('https:') ? https : http;
        const sent = make(url, { agent, method, ...others }, async (response) => {
            const { socket, statusCode: status } = response;
            try {
                const pieces = [];
                for await (const piece of response) pieces.push(piece);
                resolve({ status, body: Buffer.concat(pieces), socket });
            } catch (error) {
                reject(error);
            }
        });
        sent.on('error', reject);
        sent.end(body);
    });
}

/** The HTTP clients. Each makes an object with `get` and `close`. */
const clients = {
    'node:https': (settings) => {
        const agent = new HttpsAgent({ keepAlive: true, ...settings });
        return {
            get: async (url, options) => (await request(url, agent, options)).body,
            close: () => agent.destroy(),
        };
    },
    'fetch of undici': (settings) => {
        const dispatcher = new Agent({ connect: connector(settings), connections: 1 });
        return {
            async get(url, { method, body, signal } = {}) {
                const response = await fetch(url, { dispatcher, method, body, signal });
                return Buffer.from(await response.arrayBuffer());
            },
            close: () => dispatcher.close(),
        };
    },
};

/** The code of the error of netlib, which fetch stores as a cause. */
const codeOf = (promise) => promise.then(() => 'no failure', (error) => (error.cause ?? error).code);

for (const [name, make] of Object.entries(clients)) {
    test(`${name}: the settings of netlib decide about a server`, async () => {
        const table = [
            ['trusted', identity, {}, 'no failure'],
            ['not trusted', identity, { context: new TlsOptions().systemTrust(false).embeddedTrust(true) }, 'NETLIB_CERTIFICATE_VERIFY'],
            ['wrong name', wrongName, {}, 'NETLIB_HOSTNAME_MISMATCH'],
            ['pin', identity, { context: tlsOptions().addPin(pinOf(identity.cert)) }, 'no failure'],
            ['another pin', identity, { context: tlsOptions().addPin(pinOf(wrongName.cert)) }, 'NETLIB_FINGERPRINT_MISMATCH'],
            ['refused address', identity, { options: new ConnectOptions().refuseAddresses(AddressClass.LOOPBACK) }, 'NETLIB_ADDRESS_REFUSED'],
            ['refused by a callback', identity, { options: new ConnectOptions().addressCallback(() => Verdict.REFUSE) }, 'NETLIB_ADDRESS_REFUSED'],
        ];
        for (const [row, tls, { context = tlsOptions(), options }, expected] of table) {
            await withServer(async (url) => {
                const client = make({ context: new TlsContext(context), options });
                assert.equal(await codeOf(client.get(url)), expected, row);
                await client.close();
            }, { tls });
        }
    });

    test(`${name}: requests share a connection`, () => withServer(async (url, state) => {
        const client = make({ context: new TlsContext(tlsOptions()) });
        for (let round = 0; round < 5; round++) assert.equal((await client.get(url)).toString(), 'hello');
        assert.equal(state.connections, 1);
        await client.close();
    }));

    test(`${name}: bodies of 16 MiB in both directions arrive with backpressure`, () => {
        const body = Buffer.alloc(16 << 20, 'abcdefg');
        const onRequest = (incoming, response) => incoming.pipe(response);
        return withServer(async (url) => {
            const client = make({ context: new TlsContext(tlsOptions()) });
            const received = await client.get(url, { method: 'POST', body });
            assert.ok(received.equals(body));
            await client.close();
        }, { onRequest });
    });

    test(`${name}: an abort rejects, and closes the connection`, () => {
        let [closed, arrived] = [];
        const isClosed = new Promise((resolve) => void (closed = resolve));
        const hasArrived = new Promise((resolve) => void (arrived = resolve));
        const onRequest = (incoming) => {
            incoming.socket.on('close', closed);
            arrived();
        };
        return withServer(async (url) => {
            const client = make({ context: new TlsContext(tlsOptions()) });
            const controller = new AbortController();
            const result = client.get(url, { signal: controller.signal });
            result.catch(() => {});
            await hasArrived;
            controller.abort();
            await assert.rejects(result, { name: 'AbortError' });
            await isClosed;
            await client.close();
        }, { onRequest });
    });

    test(`${name}: 50 connections leave no descriptor`, () => withServer(async (url, state) => {
        const open = () => fs.readdirSync('/proc/self/fd').length;
        const before = open();
        for (let round = 0; round < 50; round++) {
            const client = make({ context: new TlsContext(tlsOptions()) });
            await client.get(url);
            await client.close();
        }
        assert.equal(state.connections, 50);
        // The server closes its side of a connection a little later.
        for (let round = 0; round < 100 && open() > before; round++) await sleep(20);
        assert.ok(open() <= before, `${open()} descriptors, before ${before}`);
    }));
}

test('the socket has what HTTP clients ask of a TLSSocket', () => withServer(async (url) => {
    const table = [[tlsOptions(), true], [tlsOptions().verifyMode(VerifyMode.NONE).checkHostname(false), false]];
    for (const [options, authorized] of table) {
        const agent = new HttpsAgent({ context: new TlsContext(options.addAlpnProtocol('http/1.1')), keepAlive: true });
        const { socket } = await request(url, agent);
        const expected = [true, authorized, 'http/1.1', 'TLSv1.3', 'TLSv1.3', false];
        const { encrypted, alpnProtocol } = socket;
        const found = [encrypted, socket.authorized, alpnProtocol, socket.getProtocol(), socket.getCipher().version, socket.isSessionReused()];
        assert.deepEqual(found, expected);
        const own = new X509Certificate(identity.cert);
        assert.equal(socket.getPeerCertificate().fingerprint256, own.fingerprint256);
        assert.ok(socket.getPeerX509Certificate().raw.equals(own.raw));
        agent.destroy();
    }
}));

test('node:http uses the address policy', () => withServer(async (url) => {
    assert.equal((await request(url, new HttpAgent())).body.toString(), 'hello');
    const options = new ConnectOptions().refuseAddresses(AddressClass.LOOPBACK);
    assert.equal(await codeOf(request(url, new HttpAgent({ options }))), 'NETLIB_ADDRESS_REFUSED');
}, { tls: null }));

/** The options that netlib would ignore, for https and for http. */
const ofConnection = {
    blockList: {}, family: 6, hints: 1, localAddress: '127.0.0.2', localPort: 1, lookup() {}, proxyEnv: {}, socketPath: '/x',
};
const ofTls = {
    ALPNProtocols: ['h2'], allowPartialTrustChain: true, ca: 'x', cert: 'x', checkServerIdentity() {}, ciphers: 'x',
    clientCertEngine: 'x', crl: 'x', ecdhCurve: 'x', key: 'x', maxVersion: 'TLSv1.2', minDHSize: 1, minVersion: 'TLSv1.3',
    passphrase: 'x', pfx: 'x', privateKeyEngine: 'x', privateKeyIdentifier: 'x', pskCallback() {}, rejectUnauthorized: false,
    requestOCSP: true, secureContext: {}, secureOptions: 1, secureProtocol: 'x', session: 'x', sigalgs: 'x', socket: {},
};

for (const [scheme, tls, AgentClass, refused, ignored] of [
    ['https', identity, HttpsAgent, { ...ofTls, ...ofConnection }, {}],
    ['http', null, HttpAgent, ofConnection, ofTls],
]) {
    test(`${scheme}: options of Node.js that netlib would ignore are refused`, () => withServer(async (url) => {
        const settings = tls ? { context: new TlsContext(tlsOptions()) } : {};
        const { get } = tls ? https : http;
        const agent = new AgentClass({ ...settings, keepAlive: true });
        await request(url, agent);
        for (const [name, value] of Object.entries(refused)) {
            const error = new RegExp(`^TypeError: the option ${name} has no effect with netlib, whose settings are the methods of \\w+Options$`);
            assert.throws(() => new AgentClass({ ...settings, [name]: value }), error);
            assert.throws(() => get(url, { agent, [name]: value }), error); // there is an idle connection
            assert.throws(() => agent.createConnection({ host: 'localhost', port: 1, [name]: value }), error);
        }
        const defaults = { ca: undefined, lookup: null, family: 0, hints: 0, rejectUnauthorized: true, requestOCSP: false };
        await request(url, agent, { ...ignored, ...defaults });
        new AgentClass({ ...settings, ...ignored, ...defaults });
        agent.destroy();
    }, { tls }));
}

test('connector refuses settings and requests that it would ignore', () => withServer(async (url) => {
    for (const name of ['ca', 'rejectUnauthorized', 'allowH2']) {
        assert.throws(() => connector({ [name]: null }), new RegExp(`^TypeError: connector has no setting ${name}$`));
    }
    const { hostname, protocol, port } = new URL(url);
    for (const [name, value] of [['httpSocket', {}], ['localAddress', '127.0.0.2'], ['socketPath', '/x']]) {
        const error = await new Promise((resolve) => {
            connector({ context: new TlsContext(tlsOptions()) })({ hostname, protocol, port, [name]: value }, resolve);
        });
        assert.equal(error?.message, `the option ${name} has no effect with netlib, whose settings are the methods of ConnectOptions`);
    }
}));

test('a request emits "timeout" after a time without bytes', () => withServer(async (url) => {
    const agent = new HttpsAgent({ context: new TlsContext(tlsOptions()) });
    const sent = https.get(url, { agent, timeout: 50 });
    await new Promise((resolve) => sent.on('timeout', resolve));
    sent.on('error', () => {}).destroy();
}, { onRequest() {} }));

/** Runs a server that accepts a connection, and never answers. `use` gets the URL, and promises of the connection and
 * of its end. */
function withSilentServer(use) {
    let [accept, end] = [];
    const accepted = new Promise((resolve) => void (accept = resolve));
    const closed = new Promise((resolve) => void (end = resolve));
    return withTcpServer((socket) => {
        accept(true);
        socket.resume().on('close', () => end(true));
    }, (url) => use(`https://127.0.0.1:${url.port()}/`, accepted, closed));
}

test('a request can be ended during the TLS handshake', async () => {
    const table = [
        ['abort', {}, {}, (sent, controller) => controller.abort(), 'AbortError', 'ABORT_ERR'],
        ['destroy', {}, {}, (sent) => sent.destroy(), 'Error', 'ECONNRESET'],
        ['destroy with an error', {}, {}, (sent) => sent.destroy(new RangeError('enough')), 'RangeError', undefined],
        ['timeout of the request', {}, { timeout: 20 }, null, 'RangeError', undefined],
        ['timeout of the agent', { timeout: 20 }, {}, null, 'RangeError', undefined],
        ['the same timeout twice', { timeout: 20 }, { timeout: 20 }, null, 'RangeError', undefined],
    ];
    for (const [row, ofAgent, ofRequest, end, name, code] of table) {
        await withSilentServer(async (url, accepted, closed) => {
            const controller = new AbortController();
            const agent = new HttpsAgent({ context: new TlsContext(tlsOptions()), ...ofAgent });
            const sent = https.get(url, { agent, signal: controller.signal, ...ofRequest });
            sent.on('timeout', () => sent.destroy(new RangeError('timeout')));
            const failure = new Promise((resolve) => sent.on('error', resolve));
            await accepted;
            end?.(sent, controller);
            const error = await failure;
            assert.deepEqual([error.name, error.code, await closed], [name, code, true], row);
        });
    }
});

test('connector limits the time for connecting and the TLS handshake', async () => {
    await withSilentServer(async (url, _, closed) => {
        const dispatcher = new Agent({ connect: connector({ context: new TlsContext(tlsOptions()), timeout: 0.02 }) });
        const result = codeOf(fetch(url, { dispatcher }));
        assert.deepEqual([await result, await closed], ['NETLIB_DEADLINE_EXCEEDED', true]);
        await dispatcher.close();
    });
    for (const [timeout, error] of [[-1, { code: 'NETLIB_INVALID_ARGUMENT' }], ['1', TypeError]]) {
        assert.throws(() => connector({ timeout }), error);
    }
});

test('connector has a limit of 10 seconds by default, which ends with the handshake', () => {
    let [arrive, respond] = [];
    const hasArrived = new Promise((resolve) => void (arrive = resolve));
    const isTime = new Promise((resolve) => void (respond = resolve));
    async function onRequest(incoming, response) {
        arrive();
        await isTime;
        response.end('late');
    }
    return withServer(async (url) => {
        const dispatcher = new Agent({ connect: connector({ context: new TlsContext(tlsOptions()), timeout: undefined }) });
        const late = fetch(url, { dispatcher });
        await hasArrived;
        const begin = performance.now();
        // The limit of the first connection would end before that of this one.
        const result = await withSilentServer((silent) => codeOf(fetch(silent, { dispatcher })));
        const seconds = (performance.now() - begin) / 1000;
        assert.equal(result, 'NETLIB_DEADLINE_EXCEEDED');
        assert.ok(seconds > 9.9 && seconds < 20, `${seconds} seconds`);
        respond();
        assert.equal(await (await late).text(), 'late');
        await dispatcher.close();
    }, { onRequest });
});

test('an idle connection does not keep the process running', () => withServer(async (url) => {
    const { spawn } = await import('node:child_process');
    const program = `
        import https from 'node:https';
        import { HttpsAgent, TlsContext, TlsOptions } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)};
        const context = new TlsContext(new TlsOptions().systemTrust(false).addCaFile(${JSON.stringify(certificate('ca.pem'))}));
        const agent = new HttpsAgent({ context, keepAlive: true });
        https.get(${JSON.stringify(url)}, { agent }, (response) => response.resume().on('end', () => console.log('done')));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (part) => void (printed += part));
    const status = await new Promise((resolve) => child.on('exit', resolve));
    assert.deepEqual([printed, status], ['done\n', 0]);
}));

