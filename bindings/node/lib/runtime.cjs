'use strict';
// Loads the library, and makes the calls of the generated functions of api.cjs.

const fs = require('node:fs');
const path = require('node:path');
const koffi = require('koffi');
const callbacks = require('./callbacks.cjs');
const { makeError, taxonomy } = require('./errors.cjs');
const { Handle, ...handles } = require('./handles.cjs');
const values = require('./values.cjs');
const { Waits } = require('./waits.cjs');
const { ownDescriptor } = require('./workers.cjs');

const { argument, follow, waitsOf } = handles;

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

/** Declares functions again, whose result koffi converts to a string. */
const declareText = (table) =>
    Object.fromEntries(Object.entries(table).map(([name, parameters]) => [name, library.func(name, 'str', parameters)]));

/** An enum with the names of its values: Status.OK is 0, and Status[0] is "OK". */
function enumeration(members) {
    const both = { ...members };
    for (const [name, value] of Object.entries(members)) both[value] ??= name;
    return Object.freeze(both);
}

// ---- Limits and errors as arguments.

/** Returns the limit for a Limit or an AbortSignal. If neither is passed, a call on a thread gets a new limit: with a
 * limit, netlib looks up host names on threads with a larger stack. */
function limitOf(value, isNeeded = false) {
    const { Limit } = require('./api.cjs');
    if (value === null || value === undefined) return isNeeded ? new Limit(null) : null;
    if (!(value instanceof AbortSignal)) return value;
    const waits = Waits.of(value);
    if (!waits.limit) {
        waits.limit = new Limit(null);
        follow(waits.limit, value);
    }
    return waits.limit;
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

// ---- Calls.

/** Throws the error of a failed call, the exception that a callback of the call has thrown, or the reason of the
 * aborted signal of one of the objects. */
function check(status, error, allowed, thrown, objects) {
    if (!thrown && (status === 0 || allowed.includes(status))) return;
    const isCancelled = !thrown && status === require('./api.cjs').Status.CANCELLED;
    const aborted = isCancelled ? objects.map(waitsOf).find((waits) => waits?.signal?.aborted) : null;
    if (!thrown && !aborted) throw makeError(status, error);
    if (error) taxonomy.C.netlib_error_free(error);
    throw thrown ? thrown.exception : aborted.signal.reason;
}

/** Ends `call` when the signal of one of the objects is aborted. Returns a function that stops this. */
function obey(objects) {
    const all = objects.map(waitsOf).filter((waits) => waits?.signal);
    if (all.length === 0) return () => {};
    const end = () => {}; // the signal cancels its limit
    for (const waits of all) waits.add(end);
    return () => all.forEach((waits) => waits.remove(end));
}

/** Makes a call that may invoke callbacks, which may abort a signal. */
function outer(call, given, objects) {
    const stop = obey(objects);
    try {
        return callbacks.outer(call, given);
    } finally {
        stop();
    }
}

/**
 * Makes a call on another thread. Resolves to the result and the exception of a callback. The objects stay open and
 * alive until the call returns.
 */
function onThread(call, given, objects) {
    const used = objects.filter((object) => object instanceof Handle);
    const contexts = Handle.contextsOf(used);
    return new Promise((resolve, reject) => {
        const stop = obey(used);
        const end = (error, result) => {
            stop();
            for (const handle of used) Handle.use(handle, -1);
            const thrown = callbacks.endOnThread(contexts, result);
            if (error) reject(error);
            else resolve([result, thrown]);
        };
        for (const handle of used) Handle.use(handle, 1);
        callbacks.beginOnThread(contexts);
        try {
            call.async(...given, end);
        } catch (error) {
            end(error); // koffi limits the number of calls at the same time
        }
    });
}

module.exports = {
    Handle, koffi, ...callbacks, ...handles, ...values, check, declare, declareText, enumeration, errorPointer, limitOf,
    limitPointer, onThread, outer, ownDescriptor,
};
