'use strict';
// The exceptions: a class for each class of statuses.

/** Text of netlib with the names of JavaScript instead of those of C. */
function withNames(text) {
    if (!text?.includes('netlib_')) return text;
    const names = require('./names.cjs');
    return text.replace(/(?:enum )?(netlib_\w+)/g, (found, name) => names[name] ?? found);
}

/** A failure of netlib. `code` is the name of the status. */
class NetlibError extends Error {
    #causes;

    constructor(status, info, message) {
        super(message ?? withNames(info.message()) ?? '');
        this.status = status;
        this.code = taxonomy.name(status);
        this.advice = withNames(info?.advice()) ?? null;
        this.offset = info ? info.offset() : -1;
        // The handle is for netlib: Retry.decide reads it.
        Object.defineProperty(this, 'info', { value: info });
        if (this.causes.length > 0) this.cause = this.causes[0];
    }

    get name() {
        return this.constructor.name;
    }

    /** The errors that led to this one, the latest first. */
    get causes() {
        this.#causes ??= this.info ? listCauses(this.info) : [];
        return this.#causes;
    }

    /** The message with the causes and the advice, for a log. */
    report() {
        return this.info ? withNames(this.info.report()) : this.message;
    }
}

class ArgumentError extends NetlibError {}
class StateError extends NetlibError {}
class SystemError extends NetlibError {}
class TimeError extends NetlibError {}
class UrlError extends NetlibError {}
class ConnectError extends NetlibError {}
class TlsError extends NetlibError {}
class HttpError extends NetlibError {}
class RetryError extends NetlibError {}
class ApplicationError extends NetlibError {}

const classes = { ArgumentError, StateError, SystemError, TimeError, UrlError, ConnectError, TlsError, HttpError, RetryError, ApplicationError };

/** The parts of api.cjs that the errors need; api.cjs loads later. */
const taxonomy = {
    C: null,
    name: (status) => `NETLIB_${require('./api.cjs').Status[status] ?? status}`,
    classOf(status) {
        const { statusClass, StatusClass } = require('./api.cjs');
        const name = StatusClass[statusClass(status)] ?? '';
        return classes[`${name.charAt(0)}${name.slice(1).toLowerCase()}Error`] ?? NetlibError;
    },
};

function listCauses(info) {
    return Array.from({ length: info.causeCount() }, (_, index) => fromInfo(info.cause(index)));
}

function fromInfo(info) {
    const status = info.status();
    return new (taxonomy.classOf(status))(status, info);
}

/** The exception for a failed call; `address` is the error that the call stored. */
function makeError(status, address) {
    const { own } = require('./runtime.cjs');
    const { ErrorInfo } = require('./api.cjs');
    return new (taxonomy.classOf(status))(status, own(ErrorInfo, address));
}
makeError.closed = (name) => new StateError(302, null, `the ${name} is closed`);
makeError.busy = (name) => new StateError(301, null, `another call uses the ${name}`);

module.exports = { NetlibError, ...classes, fromInfo, makeError, taxonomy };
