'use strict';
// Streams of netlib as sockets of Node.js, for node:http, node:https and undici.

const { X509Certificate } = require('node:crypto');
const http = require('node:http');
const https = require('node:https');
const net = require('node:net');
const { Duplex } = require('node:stream');
const { Limit, TlsContext, VerifyMode } = require('./api.cjs');
const { setRef } = require('./event-loop.cjs');
const { connectStream } = require('./natural.cjs');

const PIECE = 65536;
const SMALL = 4096; // smaller pieces are copied, so that the buffer can be used again

// The options of node:tls that belong to the TlsContext. A context that ignored them could be less strict.
const OF_TLS = [
    'ALPNProtocols', 'allowPartialTrustChain', 'ca', 'cert', 'checkServerIdentity', 'ciphers', 'clientCertEngine', 'crl',
    'ecdhCurve', 'key', 'maxVersion', 'minDHSize', 'minVersion', 'passphrase', 'pfx', 'privateKeyEngine',
    'privateKeyIdentifier', 'pskCallback', 'rejectUnauthorized', 'requestOCSP', 'secureContext', 'secureOptions',
    'secureProtocol', 'session', 'sigalgs', 'socket',
];
// The options of node:net that belong to the ConnectOptions.
const OF_CONNECTION = ['blockList', 'family', 'hints', 'localAddress', 'localPort', 'lookup', 'proxyEnv', 'socketPath'];
/** The values that ask for what netlib does without them. */
const DEFAULTS = { family: 0, hints: 0, rejectUnauthorized: true, requestOCSP: false };

function refuse(options, names, cls) {
    for (const name of names) {
        const value = options[name];
        if (value === undefined || value === null || value === DEFAULTS[name]) continue;
        throw new TypeError(`the option ${name} has no effect with netlib, whose settings are the methods of ${cls}`);
    }
}

function refuseForHttp(options) {
    refuse(options, OF_CONNECTION, 'ConnectOptions');
}

function refuseForHttps(options) {
    refuse(options, OF_TLS, 'TlsOptions');
    refuseForHttp(options);
}

let ofSystem = null;

/** The context for connections without one, which all of them share. */
function defaultContext() {
    ofSystem ??= TlsContext.create();
    return ofSystem;
}

/** A connection of netlib with the interface of net.Socket and tls.TLSSocket that HTTP clients use. */
class Socket extends Duplex {
    #stream = null;
    #target;
    #abort = new AbortController();
    #buffer = null;
    #timer = null;
    #isReferenced = true;

    constructor(target) {
        super({ allowHalfOpen: false });
        this.#target = target;
        this.connecting = true;
        this.encrypted = target.name !== null;
        this.authorized = false;
        this.timeout = 0;
    }

    async _construct(callback) {
        let limit = null;
        try {
            const target = this.#target;
            const context = this.encrypted ? target.context ?? await defaultContext() : null;
            limit = new Limit(target.timeout, this.#abort.signal);
            const stream = await connectStream({ ...target, context, limit });
            stream.setLimit(this.#abort.signal);
            // HTTP clients have timeouts of their own.
            if (!target.options?.timeoutInUse) stream.setReadTimeout(null);
            this.#stream = stream;
            if (this.destroyed) return callback();
            this.connecting = false;
            this.authorized = this.encrypted && context.verifyMode() === VerifyMode.REQUIRED;
            this.alpnProtocol = this.encrypted ? stream.alpnProtocol() ?? false : undefined;
            if (!this.#isReferenced) this.unref();
            callback();
            this.emit('connect');
            if (this.encrypted) this.emit('secureConnect');
        } catch (error) {
            this.connecting = false;
            callback(this.destroyed ? null : error); // the error of destroy, if there is one, is the reason
        } finally {
            limit?.close();
        }
    }

    async _read() {
        try {
            this.#buffer ??= Buffer.allocUnsafeSlow(PIECE);
            const buffer = this.#buffer;
            const n = await this.#stream.read(buffer);
            this.#restart();
            if (n >= SMALL) this.#buffer = null;
            this.push(n === 0 ? null : n < SMALL ? Buffer.from(buffer.subarray(0, n)) : buffer.subarray(0, n));
        } catch (error) {
            this.destroy(error);
        }
    }

    #send(data, callback) {
        this.#stream.write(data).then(() => {
            this.#restart();
            callback();
        }, callback);
    }

    _write(chunk, encoding, callback) {
        this.#send(chunk, callback);
    }

    _writev(chunks, callback) {
        this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
    }

    _final(callback) {
        this.#stream.shutdown().then(() => callback(), callback);
    }

    /** Ends the attempt to connect, for whose end the base class waits. */
    destroy(error, callback) {
        this.#abort.abort();
        return super.destroy(error, callback);
    }

    _destroy(error, callback) {
        clearTimeout(this.#timer);
        this.#stream?.close();
        callback(error);
    }

    destroySoon() {
        if (this.writable) this.end();
        if (this.writableFinished) this.destroy();
        else this.once('finish', this.destroy);
    }

    /** Emits "timeout" after a time without bytes. */
    setTimeout(milliseconds, callback) {
        this.timeout = milliseconds;
        this.#restart();
        if (callback) {
            if (milliseconds === 0) this.off('timeout', callback);
            else this.once('timeout', callback);
        }
        return this;
    }

    #restart() {
        clearTimeout(this.#timer);
        this.#timer = this.timeout && !this.destroyed ? setTimeout(() => this.emit('timeout'), this.timeout).unref() : null;
    }

    ref() {
        return this.#setRef(true);
    }

    unref() {
        return this.#setRef(false);
    }

    #setRef(isReferenced) {
        this.#isReferenced = isReferenced;
        if (this.#stream && !this.destroyed) setRef(this.#stream.fd(), isReferenced);
        return this;
    }

    // netlib chooses these settings of the connection.
    setNoDelay() {
        return this;
    }

    setKeepAlive() {
        return this;
    }

    getPeerX509Certificate() {
        const certificate = this.encrypted ? this.#stream?.peerCertificate(0) : null;
        return certificate ? new X509Certificate(certificate) : undefined;
    }

    getPeerCertificate() {
        return this.getPeerX509Certificate()?.toLegacyObject() ?? {};
    }

    getProtocol() {
        const version = this.encrypted ? this.#stream?.tlsVersion() : null;
        return version ? `TLSv1.${version - 0x301}` : null;
    }

    getCipher() {
        const standardName = this.encrypted ? this.#stream?.cipherSuite() : null;
        if (!standardName) return undefined;
        return { name: this.#stream.cipherSuiteOpensslName() ?? standardName, standardName, version: this.getProtocol() };
    }

    isSessionReused() {
        return this.encrypted && this.#stream !== null && this.#stream.isResumed();
    }
}

/** The address for netlib: an IPv6 address is in brackets. */
const bracketed = (host) => (net.isIPv6(host) ? `[${host}]` : host);

function open({ host, port, servername, isTls }, { context = null, options = null, timeout = null }) {
    const name = isTls ? bracketed(servername || host) : null;
    return new Socket({ host: bracketed(host), port: Number(port), name, context, options, timeout });
}

/** A socket for an agent, which leaves a timeout of its own to the socket. */
function opened(request, settings) {
    const socket = open(request, settings);
    return request.timeout ? socket.setTimeout(request.timeout) : socket;
}

/** An agent for node:http whose connections netlib makes with `options`. */
class HttpAgent extends http.Agent {
    #settings;

    constructor({ options, ...others } = {}) {
        refuseForHttp(others);
        super(others);
        this.#settings = { options };
    }

    // Also a request that gets an existing connection comes here.
    addRequest(request, options, ...rest) {
        refuseForHttp(options);
        return super.addRequest(request, options, ...rest);
    }

    createConnection(request) {
        refuseForHttp(request);
        return opened({ ...request, isTls: false }, this.#settings);
    }
}

/** An agent for node:https whose connections netlib makes with `context` and `options`. */
class HttpsAgent extends https.Agent {
    #settings;

    constructor({ context, options, ...others } = {}) {
        refuseForHttps(others);
        super(others);
        this.#settings = { context, options };
    }

    addRequest(request, options, ...rest) {
        refuseForHttps(options);
        return super.addRequest(request, options, ...rest);
    }

    createConnection(request) {
        refuseForHttps(request);
        return opened({ ...request, isTls: true }, this.#settings);
    }
}

const SETTINGS = ['context', 'options', 'timeout'];

/** The function `connect` for an Agent of undici. */
function connector(settings = {}) {
    const { timeout = 10 } = settings;
    new Limit(timeout).close(); // refuses an invalid timeout
    const unknown = Object.keys(settings).find((name) => !SETTINGS.includes(name));
    if (unknown !== undefined) throw new TypeError(`connector has no setting ${unknown}`);
    return (request, callback) => {
        const { hostname, protocol, port, servername } = request;
        const fail = (error) => callback(error, null);
        try {
            refuse(request, ['httpSocket', 'localAddress', 'socketPath'], 'ConnectOptions');
        } catch (error) {
            process.nextTick(fail, error);
            return;
        }
        const isTls = protocol === 'https:';
        const host = hostname.replace(/^\[|\]$/g, '');
        const socket = open({ host, port: port || (isTls ? 443 : 80), servername, isTls }, { ...settings, timeout });
        socket.once(isTls ? 'secureConnect' : 'connect', () => {
            socket.off('error', fail);
            callback(null, socket);
        });
        socket.once('error', fail);
    };
}

module.exports = { HttpAgent, HttpsAgent, connector };
