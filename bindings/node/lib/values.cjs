'use strict';
// Converts values between JavaScript and C.

const { isUtf8 } = require('node:buffer');
const koffi = require('koffi');

// ---- Outputs of C functions.

/** Variables of eight bytes, to which C functions store their outputs. */
class Slots {
    constructor(count) {
        const memory = new ArrayBuffer(8 * count);
        const start = koffi.address(memory);
        this.u64 = new BigUint64Array(memory);
        this.i64 = new BigInt64Array(memory);
        this.i32 = new Int32Array(memory);
        this.u32 = new Uint32Array(memory);
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

/** For calls that may invoke callbacks. */
const shared = new Slots(1024);

/** For all other calls of this thread, because each of them ends before the next one begins. */
const fixed = new Slots(16);

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

const lengthOf = koffi.load(null).func('strlen', 'size_t', ['void *']);

/** True if koffi has converted the text without a loss. False also for some text that needs another conversion only
 * because it has characters that are not ASCII. */
const isExact = (string, length) => string === null || (string.length === length && !string.includes('\ufffd'));

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
function partOf({ memory }, address, length) {
    const at = Number(address - koffi.address(memory));
    return Buffer.from(memory.buffer, memory.byteOffset + at, Number(length));
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

function checkText(name, value) {
    if (typeof value !== 'string') throw invalid(name, 'a string', value);
    const nul = value.indexOf('\0');
    if (nul >= 0) throw new TypeError(`${name} has a NUL at index ${nul}`);
}

/** The memory of text without a length. Refuses text with a NUL, because C would read it only up to the NUL. */
function cText(name, value, isOptional) {
    if ((value === null || value === undefined) && isOptional) return null;
    checkText(name, value);
    return Buffer.concat([textToBytes(value), Buffer.alloc(1)]);
}

// koffi copies a string, which is faster than a Buffer only for short strings.
const SHORT = 4096;
const isShort = (value) => value.length <= SHORT && value.isWellFormed();

/** Text without a length for a call on this thread. */
function inputText(name, value, isOptional) {
    if (typeof value !== 'string' || !isShort(value)) return cText(name, value, isOptional);
    checkText(name, value);
    return value;
}

/** Text or bytes for a call on this thread. `byteLength` returns the length. */
function input(name, value, isOptional) {
    if ((value === null || value === undefined) && isOptional) return null;
    if (typeof value === 'string') return isShort(value) ? value : textToBytes(value);
    if (!(value instanceof Uint8Array)) throw invalid(name, 'a string or a Uint8Array', value);
    // The address of an empty array is NULL, which stands for absent text.
    return value.length ? value : '';
}

function byteLength(value) {
    if (value === null) return 0;
    return typeof value === 'string' ? Buffer.byteLength(value) : value.length;
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

module.exports = {
    Slots, block, bufferOf, byteLength, bytes, cText, dataOf, f64, fieldsOf, fixed, fn, i32, i64, input, inputText, integers,
    integersOf, invalid, isExact, member, number, partOf, seconds, secondsPointer, shared, size, slicesOf, text,
    textToBytes, texts, textsOf, truth, u64,
};
