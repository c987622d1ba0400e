'use strict';
// The objects that stand for the handles of netlib.

const { makeError } = require('./errors.cjs');
const { heldValues } = require('./callbacks.cjs');
const { Waits } = require('./waits.cjs');
const { invalid } = require('./values.cjs');

const finalizers = new FinalizationRegistry(({ free, address }) => free(address));

/** The first argument of a constructor that only makes an object, which `adopt` completes. */
const UNMADE = Symbol('unmade');
const FREE = Symbol('free');
const NONE = Object.freeze([]);

// Handles without a finalizer, which is expensive. Most handles are closed before they need one.
const YOUNG = 64;
let young = [];

/** Stores which function frees the handles of a class, and whether only one call at a time may use a handle. */
function describe(cls, free, isExclusive) {
    Object.defineProperty(cls.prototype, FREE, { value: free });
    Object.defineProperty(cls.prototype, 'isExclusive', { value: isExclusive });
}

/** A handle of netlib. `close` frees the handle; so does the garbage collector. */
class Handle {
    #address = null;
    #calls = 0; // the calls on other threads that use the handle
    #isOwned = false;
    #isRegistered = false; // has a finalizer
    #isClosed = false;
    #lenders = NONE; // the objects that own a borrowed handle
    #contexts = NONE; // the ctx of each callback that a call with the handle may invoke
    #waits = null; // the waits that end when the limit of the handle is cancelled

    /** Frees the handle, at once or after the calls that use it. Closing a handle twice has no effect. */
    close() {
        this.#isClosed = true;
        if (this.#calls === 0) this.#free();
    }

    #free() {
        if (this.#isOwned) {
            if (this.#isRegistered) finalizers.unregister(this);
            this[FREE](this.#address);
        }
        this.#address = null;
        this.#isOwned = false;
    }

    static isOpen(handle) {
        return !handle.#isClosed && handle.#lenders.every(Handle.isOpen);
    }

    static pointer(handle) {
        if (handle.#isClosed || handle.#address === null) throw makeError.closed(handle.constructor.name);
        if (handle.#calls > 0 && handle.isExclusive) throw makeError.busy(handle.constructor.name);
        // A borrowed handle is valid as long as its lenders are open.
        if (handle.#lenders !== NONE) handle.#lenders.forEach(Handle.pointer);
        if (handle.#waits !== null) handle.#waits.cancelIfAborted();
        return handle.#address;
    }

    /** Stores the address of a handle, which the object owns unless there are lenders. */
    static adopt(handle, address, lenders = null, sources = NONE) {
        handle.#address = address;
        if (lenders) {
            handle.#lenders = lenders.filter((lender) => lender instanceof Handle);
        } else {
            handle.#isOwned = true;
            if (young.length === 0) queueMicrotask(Handle.settle);
            if (young.push(handle) === YOUNG) Handle.settle();
        }
        if (sources !== NONE) Handle.inherit(handle, sources);
        return handle;
    }

    /** Makes the finalizers of the young handles that are open. */
    static settle() {
        const handles = young;
        young = [];
        for (const handle of handles) {
            if (!handle.#isOwned) continue;
            finalizers.register(handle, { free: handle[FREE], address: handle.#address }, handle);
            handle.#isRegistered = true;
        }
    }

    /** Adds callbacks: those of other handles, and new ones, each as a ctx. The limits of other handles also apply. */
    static inherit(handle, sources) {
        for (const source of sources) {
            // An AbortSignal and an exception have no callbacks.
            const added = typeof source === 'bigint' ? [source] : source instanceof Handle ? source.#contexts : NONE;
            if (added.length > 0) {
                const contexts = new Set([...handle.#contexts, ...added]);
                handle.#contexts = [...contexts].filter((ctx) => heldValues.has(ctx));
            }
            handle.#waits ??= Handle.waitsOf(source);
            if (source?.sleeper && 'sleeper' in handle) handle.sleeper = true;
        }
    }

    /** Replaces the limit of a handle. */
    static follow(handle, limit) {
        handle.#waits = Handle.waitsOf(limit);
    }

    /** Returns the waits that a limit, an AbortSignal, or a handle with a limit ends; otherwise null. */
    static waitsOf(value) {
        if (value instanceof AbortSignal) return Waits.of(value);
        if (!(value instanceof Handle)) return null;
        if (value.isLimit) value.#waits ??= new Waits();
        return value.#waits;
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
        if (handle.#isRegistered) finalizers.unregister(handle);
        handle.#isOwned = false;
        handle.close();
        return address;
    }
}
Object.defineProperty(Handle.prototype, Symbol.dispose, {
    value() {
        this.close();
    },
});

const { pointer, adopt, follow, give, inherit, isOpen, waitsOf } = Handle;
for (const name of ['isOpen', 'pointer', 'adopt', 'settle', 'inherit', 'follow', 'waitsOf', 'contextsOf', 'use', 'give']) {
    Object.defineProperty(Handle, name, { enumerable: false });
}

function argument(name, value, cls, isOptional) {
    if ((value === null || value === undefined) && isOptional) return null;
    if (!(value instanceof cls)) throw invalid(name, `a ${cls.name}`, value);
    return pointer(value);
}

function own(cls, address, sources) {
    return address ? adopt(new cls(UNMADE), address, null, sources) : null;
}

/** A handle that is part of other objects, which it keeps alive. */
function borrow(cls, address, lenders, sources) {
    return address ? adopt(new cls(UNMADE), address, lenders, sources) : null;
}

/** Calls `use` with a handle, which is closed when `use` returns or throws. */
function lend(cls, address, use) {
    const handle = adopt(new cls(UNMADE), address, []);
    try {
        return use(handle);
    } finally {
        handle.close();
    }
}

module.exports = {
    Handle, UNMADE, adopt, argument, borrow, describe, follow, give, inherit, isOpen, lend, own, pointer, waitsOf,
};
