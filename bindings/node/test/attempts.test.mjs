// Tests of Attempts.

import assert from 'node:assert/strict';
import netlib, {
    Attempts, Headers, Limit, RequestForm, Retry, RetryOptions, Status, Stream, parseUrl,
} from '../index.mjs';
import { answer, attemptsOf, code, collect, test, withServer } from './helpers.mjs';

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
