// What the tests share.

import net from 'node:net';
import declare from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Attempts, Headers, JitterKind, NetlibError, Response, Retry, RetryOptions, parseUrl } from '../index.mjs';

/** Declares a test, which fails if it does not end. */
export const test = (name, body) => declare(name, { timeout: 30_000 }, body);

export const code = (name) => (error) => error instanceof NetlibError && error.code === `NETLIB_${name}`;

/** A file of tests/certs. This module is a copy in target/bindings/node/test. */
export const certificate = (name) => `${import.meta.dirname}/../../../../tests/certs/${name}`;

/** Runs a server, and closes it after `use`, whose argument is its URL. */
export async function withServer(onConnection, use) {
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

export async function collect() {
    for (let round = 0; round < 5; round++) {
        await turn();
        globalThis.gc();
    }
    await sleep(10);
}

/** An answer to a GET request. */
export const answer = (status, fields = {}) => new Response('GET', status, new Headers(fields));

/** Attempts of a request to http://a/x. The options of the recommended Retry may be changed. */
export function attemptsOf({ options = RetryOptions.newRecommended(), method = 'GET', hasBody = false, limit = null } = {}) {
    options.jitterKind(JitterKind.NONE).backoffFactor(0);
    return new Attempts(new Retry(options), method, parseUrl('http://a/x'), new Headers({ 'x-one': '1' }), hasBody, limit);
}
