'use strict';
// Loads the library, and converts values between JavaScript and C for the generated functions of api.cjs.

const fs = require('node:fs');
const path = require('node:path');
const { isUtf8 } = require('node:buffer');
const koffi = require('koffi');
const { makeError, taxonomy } = require('./errors.cjs');

// ---- The library.

const packaged = path.join(__dirname, '..', 'native', 'libnetlib.so.0.1');
const library = koffi.load(fs.existsSync(packaged) ? packaged : 'libnetlib.so.0.1');

/** Declares the functions of the library. Before version 1.0, a minor version may change the ABI. */
function declare(version, table) {
    const C = {};
    const loaded = library.func('netlib_version', 'str', [])();
    const minor = (full) => full.split('.').slice(0, 2).join('.');
    if (minor(loaded) !== minor(version)) {
        throw new Error(`this package is for netlib ${minor(version)}, but the loaded library is netlib ${loaded}`);
    }
    for (const [name, [result, parameters]] of Object.entries(table)) C[name] = library.func(name, result, parameters);
    taxonomy.C = C;
    return C;
}

/** An enum with the names of its values: Status.OK is 0, and Status[0] is "OK". */
function enumeration(members) {
    const both = { ...members };
    for (const [name, value] of Object.entries(members)) both[value] ??= name;
    return Object.freeze(both);
}

// ---- Outputs of C functions.

/** Variables of eight bytes, to which C functions store their outputs. */
class Slots {
    constructor(count) {
        const memory = new ArrayBuffer(8 * count);
        const start = koffi.address(memory);
        this.u64 = new BigUint64Array(memory);
        this.i64 = new BigInt64Array(memory);
        this.i32 = new Int32Array(memory);
        this.f64 = new Float64Array(memory);
        this.address = Array.from({ length: count }, (_, index) => start + BigInt(8 * index));
        this.used = 0;
    }

    /** Reserves variables for a call. Callbacks may make further calls during this call. */
    open(count) {
        const at = this.used;
        if (at + count > this.u64.length) throw new RangeError('too many calls of netlib inside callbacks');
        this.used += count;
        this.u64.fill(0n, at, this.used);
        return at;
    }

    close(at) {
        this.used = at;
    }
}

const shared = new Slots(1024);

/** An int64_t or size_t: a number, or a BigInt if a number would lose digits. */
function number(value) {
    const converted = Number(value);
    return Number.isSafeInteger(converted) ? converted : BigInt(value);
}

function bytes(address, length) {
    if (!address) return null;
    return length ? Buffer.from(new Uint8Array(koffi.view(address, Number(length)))) : Buffer.alloc(0);
}

/** Text of the library. A byte that is not UTF-8 becomes U+DC00 plus the byte, which textToBytes turns back. */
function text(address, length) {
    if (!address) return null;
    const decoded = length === undefined ? koffi.decode.string(address) : koffi.decode.string(address, Number(length));
    if (!decoded.includes('\ufffd')) return decoded;
    return decode(bytes(address, length ?? lengthOf(address)));
}

const strlen = koffi.load(null).func('strlen', 'size_t', ['void *']);

function lengthOf(address) {
    return strlen(address);
}

function decode(data) {
    if (isUtf8(data)) return data.toString();
    let decoded = '';
    for (let at = 0; at < data.length;) {
        const lead = data[at];
        const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        const part = data.subarray(at, at + length);
        const isValid = part.length === length && isUtf8(part);
        decoded += isValid ? part.toString() : String.fromCharCode(0xdc00 + lead);
        at += isValid ? length : 1;
    }
    return decoded;
}

/** The bytes of a string, in which lone surrogates from U+DC80 to U+DCFF stand for bytes that are not UTF-8. */
function textToBytes(string) {
    if (string.isWellFormed()) return Buffer.from(string);
    const parts = [];
    for (const character of string) {
        const code = character.codePointAt(0);
        if (code >= 0xdc80 && code <= 0xdcff) parts.push(Buffer.of(code - 0xdc00));
        else if (code >= 0xd800 && code <= 0xdfff) throw new TypeError('the string has a lone surrogate');
        else parts.push(Buffer.from(character));
    }
    return Buffer.concat(parts);
}

const isSmall = (count) => count <= 1_000_000n;

function texts(address, count) {
    if (!address || !isSmall(count)) return [];
    return koffi.decode(address, 'void *', Number(count)).map((item) => text(item));
}

function integers(address, count) {
    return address && isSmall(count) ? Array.from(koffi.decode(address, 'int32_t', Number(count))) : [];
}

/** The part of an input to which a result points, without a copy. */
function partOf(input, address, length) {
    const at = Number(address - koffi.address(input.memory));
    return Buffer.from(input.memory.buffer, input.memory.byteOffset + at, Number(length));
}

// ---- Inputs of C functions.

const invalid = (name, expected, value) =>
    new TypeError(`${name} must be ${expected}, not ${value === null ? 'null' : typeof value}`);

function integer(name, value, low, high) {
    if (!Number.isInteger(value)) throw invalid(name, 'an integer', value);
    if (value < low || value > high) throw new RangeError(`${name} must be from ${low} to ${high}, not ${value}`);
    return value;
}

const i32 = (name, value) => integer(name, value, -(2 ** 31), 2 ** 31 - 1);
const size = (name, value) => integer(name, value, 0, Number.MAX_SAFE_INTEGER);

function i64(name, value) {
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value;
    return integer(name, value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
}

function u64(name, value) {
    if (typeof value === 'bigint' && BigInt.asUintN(64, value) === value) return value;
    return integer(name, value, 0, Number.MAX_SAFE_INTEGER);
}

function f64(name, value) {
    if (typeof value !== 'number') throw invalid(name, 'a number', value);
    return value;
}

/** Seconds; null stands for no time limit. */
function seconds(name, value) {
    return value === null || value === undefined ? Infinity : f64(name, value);
}

/** A pointer to seconds, which may be absent. */
function secondsPointer(name, value) {
    return value === null || value === undefined ? null : new Float64Array([f64(name, value)]);
}

function truth(name, value) {
    if (typeof value !== 'boolean') throw invalid(name, 'true or false', value);
    return value ? 1 : 0;
}

function fn(name, value, isOptional) {
    if (typeof value !== 'function' && !(isOptional && value === null)) throw invalid(name, 'a function', value);
    return value;
}

function member(values, value) {
    if (typeof value !== 'number' || !(value in values)) throw invalid('the result of the callback', 'a value of the enum', value);
    return value;
}

/** Text without a length. Refuses text with a NUL, because C would read it only up to the NUL. */
function cText(name, value, isOptional) {
    if ((value === null || value === undefined) && isOptional) return null;
    if (typeof value !== 'string') throw invalid(name, 'a string', value);
    const nul = value.indexOf('\0');
    if (nul >= 0) throw new TypeError(`${name} has a NUL at index ${nul}`);
    return value.isWellFormed() ? Buffer.from(`${value}\0`) : Buffer.concat([textToBytes(value), Buffer.alloc(1)]);
}

const EMPTY = Buffer.alloc(1);
const ABSENT = { pointer: null, length: 0, memory: EMPTY };

function block(memory) {
    // The address of an empty array is NULL, which stands for absent text.
    return { pointer: memory.length ? memory : EMPTY, length: memory.length, memory };
}

/** Text or bytes with a length. */
function dataOf(name, value, isOptional) {
    if ((value === null || value === undefined) && isOptional) return ABSENT;
    if (typeof value === 'string') return block(textToBytes(value));
    if (!(value instanceof Uint8Array)) throw invalid(name, 'a string or a Uint8Array', value);
    return block(value);
}

function bufferOf(name, value) {
    if (!(value instanceof Uint8Array)) throw invalid(name, 'a Uint8Array', value);
    return block(value);
}

/** An array of pointers, and the memory to which they point. */
function pointers(rows, width) {
    const memory = new BigUint64Array(rows.length * width || 1);
    rows.forEach((row, index) => {
        row.forEach((item, column) => (memory[index * width + column] = item instanceof Uint8Array ? koffi.address(item) : BigInt(item)));
    });
    kept.set(memory, rows);
    return { pointer: memory, length: rows.length };
}

const kept = new WeakMap();

function textsOf(name, values) {
    return pointers(Array.from(values, (value, index) => [cText(`${name}[${index}]`, value)]), 1);
}

function slicesOf(name, values) {
    // A getter of an element may detach the memory of another element, so all getters run before the first conversion.
    const blocks = Array.from(values).map((value, index) => dataOf(`${name}[${index}]`, value));
    return pointers(blocks.map((item) => [item.pointer, item.length]), 2);
}

function integersOf(name, values) {
    const memory = Int32Array.from(values, (value, index) => i32(`${name}[${index}]`, value));
    return { pointer: memory.length ? memory : EMPTY, length: memory.length };
}

/** Header fields: an object, a Map, or pairs of names and values. */
function fieldsOf(name, values) {
    if (values === null || typeof values !== 'object') throw invalid(name, 'an object or pairs', values);
    const pairs = Symbol.iterator in values ? [...values] : Object.entries(values);
    return pointers(pairs.map(([key, value]) => [cText('the name of a header', key), cText(`the header ${key}`, value)]), 2);
}

// ---- Handles.

const described = new Map(); // the functions that free the handles, by class
const finalizers = new FinalizationRegistry(({ free, address }) => free(address));

/** Stores which function frees the handles of a class. */
function describe(cls, free, isExclusive) {
    described.set(cls, free);
    Object.defineProperty(cls.prototype, 'isExclusive', { value: isExclusive });
}

/** A handle of netlib. `close` frees the handle; so does the garbage collector. */
class Handle {
    #address = null;
    #calls = 0; // the calls on other threads that use the handle
    #isOwned = false;
    #isClosed = false;
    #lenders = []; // the objects that own a borrowed handle
    #contexts = []; // the ctx of each callback that a call with the handle may invoke

    /** Frees the handle, at once or after the calls that use it. Closing a handle twice has no effect. */
    close() {
        this.#isClosed = true;
        if (this.#calls === 0) this.#free();
    }

    #free() {
        if (this.#isOwned) {
            finalizers.unregister(this);
            described.get(this.constructor)(this.#address);
        }
        this.#address = null;
        this.#isOwned = false;
    }

    static pointer(handle) {
        if (handle.#isClosed || !handle.#address) throw makeError.closed(handle.constructor.name);
        if (handle.#calls > 0 && handle.isExclusive) throw makeError.busy(handle.constructor.name);
        // A borrowed handle is valid as long as its lenders are open.
        handle.#lenders.forEach(Handle.pointer);
        return handle.#address;
    }

    /** Stores the address of a handle, which the object owns unless there are lenders. */
    static adopt(handle, address, lenders, sources = []) {
        handle.#address = address;
        handle.#isOwned = !lenders;
        handle.#lenders = lenders ? lenders.filter((lender) => lender instanceof Handle) : [];
        if (!lenders) finalizers.register(handle, { free: described.get(handle.constructor), address }, handle);
        inherit(handle, sources);
        return handle;
    }

    /** Adds callbacks: those of other handles, and new ones, each as a ctx. */
    static inherit(handle, sources) {
        for (const source of sources) {
            // An AbortSignal and an exception have no callbacks.
            const added = typeof source === 'bigint' ? [source] : source instanceof Handle ? source.#contexts : [];
            if (added.length > 0) {
                const contexts = new Set([...handle.#contexts, ...added]);
                handle.#contexts = [...contexts].filter((ctx) => heldValues.has(ctx));
            }
            if (source?.sleeper && 'sleeper' in handle) handle.sleeper = true;
        }
    }

    static contextsOf(handles) {
        return [...new Set(handles.flatMap((handle) => handle.#contexts))];
    }

    static use(handle, change) {
        handle.#calls += change;
        for (const lender of handle.#lenders) Handle.use(lender, change);
        if (handle.#calls === 0 && handle.#isClosed) handle.#free();
    }

    static give(handle) {
        const address = Handle.pointer(handle);
        finalizers.unregister(handle);
        handle.#isOwned = false;
        handle.close();
        return address;
    }

    static make(cls) {
        return Reflect.construct(Handle, [], cls);
    }
}
Object.defineProperty(Handle.prototype, Symbol.dispose, {
    value() {
        this.close();
    },
});

const { pointer, adopt, give, inherit } = Handle;
for (const name of ['pointer', 'adopt', 'inherit', 'contextsOf', 'use', 'give', 'make']) {
    Object.defineProperty(Handle, name, { enumerable: false });
}

function argument(name, value, cls, isOptional) {
    if ((value === null || value === undefined) && isOptional) return null;
    if (!(value instanceof cls)) throw invalid(name, `a ${cls.name}`, value);
    return pointer(value);
}

function own(cls, address, sources) {
    return address ? adopt(Handle.make(cls), address, null, sources) : null;
}

/** A handle that is part of other objects, which it keeps alive. */
function borrow(cls, address, lenders, sources) {
    return address ? adopt(Handle.make(cls), address, lenders, sources) : null;
}

/** Calls `use` with a handle, which is closed when `use` returns or throws. */
function lend(cls, address, use) {
    const handle = adopt(Handle.make(cls), address, []);
    try {
        return use(handle);
    } finally {
        handle.close();
    }
}

// ---- Limits and errors as arguments.

const limits = new WeakMap(); // the limits that AbortSignals cancel

/** Returns the limit for a Limit or an AbortSignal. If neither is passed, a call on a thread gets a new limit: with a
 * limit, netlib looks up host names on threads with a larger stack. */
function limitOf(value, isNeeded = false) {
    const { Limit } = require('./api.cjs');
    if (value === null || value === undefined) return isNeeded ? new Limit(null) : null;
    if (!(value instanceof AbortSignal)) return value;
    let limit = limits.get(value);
    if (!limit) {
        limit = new Limit(null);
        limits.set(value, limit);
        if (value.aborted) limit.cancel();
        else value.addEventListener('abort', () => limit.cancel(), { once: true });
    }
    return limit;
}

function limitPointer(value) {
    const { Limit } = require('./api.cjs');
    const limit = limitOf(value);
    return limit ? argument('limit', limit, Limit, true) : null;
}

function errorPointer(name, value, isOptional) {
    const { ErrorInfo } = require('./api.cjs');
    return argument(name, value?.info ?? value, ErrorInfo, isOptional);
}

/** Throws the error of a failed call, or the exception that a callback of the call has thrown. */
function check(status, error, allowed, thrown = null) {
    if (thrown) {
        if (error) taxonomy.C.netlib_error_free(error);
        throw thrown.exception;
    }
    if (status !== 0 && !allowed.includes(status)) throw makeError(status, error);
}

// ---- Callbacks.

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

// ---- Calls on other threads.

/**
 * Makes a call on another thread. Resolves to the result and the exception of a callback. The objects stay open and
 * alive until the call returns.
 */
function onThread(call, values, handles) {
    const used = handles.filter((handle) => handle instanceof Handle);
    const contexts = Handle.contextsOf(used);
    return new Promise((resolve, reject) => {
        const end = (error, result) => {
            for (const handle of used) Handle.use(handle, -1);
            const thrown = endOnThread(contexts, result);
            if (error) reject(error);
            else resolve([result, thrown]);
        };
        for (const handle of used) Handle.use(handle, 1);
        beginOnThread(contexts);
        try {
            call.async(...values, end);
        } catch (error) {
            end(error); // koffi limits the number of calls at the same time
        }
    });
}

module.exports = {
    Handle, Slots, adopt, argument, block, borrow, bufferOf, bytes, cText, callback, check, copyTo, ctxFree, dataOf,
    declare, describe, enumeration, errorPointer, f64, fieldsOf, fn, give, hasRaised, heldValue, hold, holdCallbacks, i32, i64,
    inherit, integers, integersOf, koffi, lend, limitOf, limitPointer, member, number, onThread, outer, own, partOf, pointer,
    raise, seconds, secondsPointer, shared, size, slicesOf, take, text, textToBytes, texts, textsOf, truth, u64,
};
