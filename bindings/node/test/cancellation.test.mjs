// Tests of AbortSignals and limits.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import netlib, { Limit, Retry, Stream, TlsContext, TlsOptions } from '../index.mjs';
import { answer, attemptsOf, code, test, withServer } from './helpers.mjs';

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
