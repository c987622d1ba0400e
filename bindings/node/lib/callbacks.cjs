'use strict';
// The callbacks of the application, and their exceptions.

const koffi = require('koffi');
const { size } = require('./values.cjs');

const heldValues = new Map(); // the functions and values that netlib holds, by ctx
let lastCtx = 0n;

function hold(value) {
    lastCtx += 1n;
    heldValues.set(lastCtx, value);
    return lastCtx;
}

const holdCallbacks = (functions) => (Object.values(functions).some(Boolean) ? hold(functions) : null);
const heldValue = (ctx) => (ctx ? heldValues.get(ctx) : undefined);

const onFree = koffi.register((ctx) => void heldValues.delete(ctx), koffi.pointer(koffi.proto('netlib_ctx_free_fn', 'void', ['void *'])));
const ctxFree = (ctx) => (ctx === null ? null : onFree);

// The exceptions of callbacks, which must not cross C. A call on this thread throws the exception of its own callbacks.
// The callbacks of a call on another thread run in the event loop, where their ctx identifies the call. Calls at the
// same time may share a ctx, so a call on another thread throws an exception only if its status is CALLBACK_FAILED.
let depth = 0;
let raised = null; // by a callback of the call in progress
let finished = null; // the exception of the call that has just returned
let raisedOnThreads = []; // exceptions that no call has taken yet, the oldest first, each with the ctx of its callback
const callsOnThreads = new Map(); // the number of calls in progress that may invoke a callback, by ctx

/**
 * Makes a function that C calls. `decision` is the index of the output that gets the result of `body`; null for a
 * function that returns this result to C. If `body` throws, C gets no decision, or -1.
 */
function callback(name, types, decision, body) {
    const call = (ctx, ...values) => {
        const output = decision === null ? null : values.splice(decision - 1, 1)[0];
        const held = (...given) => {
            const result = heldValues.get(ctx)[name](...given);
            if (typeof result?.then === 'function') throw new TypeError('a callback of netlib must not return a promise');
            return result;
        };
        try {
            const result = body(held, ...values);
            if (decision === null) return result;
            koffi.encode(output, 'int32_t', result);
        } catch (exception) {
            if (depth === 0) raisedOnThreads.push({ ctx, exception });
            else raised ??= { exception };
            if (decision === null) return -1;
        }
        return undefined;
    };
    return koffi.register(call, koffi.pointer(koffi.proto(name, decision === null ? 'int32_t' : 'void', types)));
}

/** Calls a function that may invoke callbacks. A callback may make further calls. */
function outer(call, values) {
    const before = raised;
    raised = null;
    depth += 1;
    try {
        return call(...values);
    } finally {
        depth -= 1;
        finished = raised;
        raised = before;
    }
}

const hasRaised = () => finished !== null;

function take() {
    const taken = finished;
    finished = null;
    return taken;
}

function beginOnThread(contexts) {
    for (const ctx of contexts) callsOnThreads.set(ctx, (callsOnThreads.get(ctx) ?? 0) + 1);
}

/** Returns the exception of a call on another thread, which has returned `status`. */
function endOnThread(contexts, status) {
    let taken = null;
    if (status === require('./api.cjs').Status.CALLBACK_FAILED) {
        const at = raisedOnThreads.findIndex(({ ctx }) => contexts.includes(ctx));
        if (at >= 0) [taken] = raisedOnThreads.splice(at, 1);
    }
    for (const ctx of contexts) {
        const left = callsOnThreads.get(ctx) - 1;
        if (left > 0) callsOnThreads.set(ctx, left);
        else callsOnThreads.delete(ctx);
    }
    // The remaining exceptions belong to calls in progress.
    raisedOnThreads = raisedOnThreads.filter(({ ctx }) => callsOnThreads.has(ctx));
    return taken;
}

function raise() {
    const taken = take();
    if (taken) throw taken.exception;
}

/** Copies the bytes that a callback stored into the memory of C. */
function copyTo(address, data, count, length) {
    if (size('result', count) > Number(length)) throw new RangeError('the callback stored more bytes than the buffer has');
    if (count > 0) new Uint8Array(koffi.view(address, count)).set(data.subarray(0, count));
}

module.exports = {
    beginOnThread, callback, copyTo, ctxFree, endOnThread, hasRaised, heldValue, heldValues, hold, holdCallbacks, outer,
    raise, take,
};
