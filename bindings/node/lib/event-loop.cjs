'use strict';
// Waits for descriptors in the event loop. libuv allows one handle for each descriptor, so waits share the handles.

const koffi = require('koffi');

const LONGEST = 2 ** 31 - 1; // milliseconds of a timer

const watches = new Map();
const unreferenced = new Set(); // descriptors whose waits do not keep the process running

/** Watches one descriptor for all waits. */
class Watch {
    constructor(fd) {
        this.fd = fd;
        this.waits = new Map(); // functions to call, with true for a wait that needs the descriptor to be writable
        this.handle = null;
        this.isStarting = false;
    }

    static of(fd) {
        if (!watches.has(fd)) watches.set(fd, new Watch(fd));
        return watches.get(fd);
    }

    add(wake, isWrite) {
        this.waits.set(wake, isWrite);
        this.update();
    }

    remove(wake) {
        if (this.waits.delete(wake)) this.update();
    }

    update() {
        const kinds = [...this.waits.values()];
        this.handle?.close();
        this.handle = null;
        if (kinds.length === 0) return watches.delete(this.fd);
        const events = { readable: kinds.includes(false), writable: kinds.includes(true) };
        this.handle = koffi.node.poll(this.fd, events, (status, event) => this.wake(event));
        if (unreferenced.has(this.fd)) this.handle.unref();
        return true;
    }

    wake({ readable, writable, disconnect }) {
        const isFailed = disconnect || !(readable || writable);
        for (const [wake, isWrite] of [...this.waits]) if (isFailed || (isWrite ? writable : readable)) wake();
    }

    wakeAll() {
        for (const wake of [...this.waits.keys()]) wake();
    }
}

/** Waits until one of the descriptors is ready, the time has passed, or `waits` end. Resolves to true, false or null. */
function ready(events, seconds = Infinity, waits = null) {
    return new Promise((resolve, reject) => {
        let timer = null;
        const end = (result) => {
            clearTimeout(timer);
            for (const { fd } of events) Watch.of(fd).remove(wake);
            waits?.remove(cancel);
            resolve(result);
        };
        const wake = () => end(true);
        const cancel = () => end(null);
        if (seconds !== Infinity) timer = setTimeout(() => end(false), Math.min(Math.ceil(seconds * 1000), LONGEST));
        waits?.add(cancel);
        try {
            for (const { fd, isWrite } of events) Watch.of(fd).add(wake, isWrite);
        } catch (error) {
            end(false);
            reject(error);
        }
    });
}

/** States whether waits for a descriptor keep the process running. */
function setRef(fd, isReferenced) {
    if (isReferenced) unreferenced.delete(fd);
    else unreferenced.add(fd);
    const handle = watches.get(fd)?.handle;
    if (isReferenced) handle?.ref();
    else handle?.unref();
}

/** Ends all waits for a descriptor before it is closed. */
function wakeAll(fd) {
    watches.get(fd)?.wakeAll();
}

module.exports = { ready, setRef, wakeAll };
