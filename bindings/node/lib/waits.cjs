'use strict';
// Ends waits when a limit is cancelled or an AbortSignal is aborted.

const bySignal = new WeakMap();

/** The waits that obey a limit, or its parents and children, which share one object. */
class Waits {
    #ends = new Set(); // a function for each wait
    #isCancelled = false;

    constructor(signal = null) {
        this.signal = signal;
        this.limit = null; // the limit that the signal cancels
    }

    static of(signal) {
        if (!bySignal.has(signal)) bySignal.set(signal, new Waits(signal));
        return bySignal.get(signal);
    }

    /** Adds a wait. Only a signal with waits has a listener. */
    add(end) {
        if (this.#ends.size === 0) this.signal?.addEventListener('abort', this.#onAbort);
        this.#ends.add(end);
    }

    remove(end) {
        this.#ends.delete(end);
        if (this.#ends.size === 0) this.signal?.removeEventListener('abort', this.#onAbort);
    }

    #onAbort = () => {
        this.cancelIfAborted();
        this.end();
    };

    /** Calls the function of each wait, which checks its limit. */
    end() {
        for (const end of [...this.#ends]) end();
    }

    cancelIfAborted() {
        if (!this.signal?.aborted || !this.limit || this.#isCancelled) return;
        this.#isCancelled = true;
        this.limit.cancel();
    }
}

module.exports = { Waits };
