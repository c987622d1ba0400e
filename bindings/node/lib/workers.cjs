'use strict';
// Lets a worker thread be terminated at any time without a crash, and without descriptors that stay open.

const fs = require('node:fs');
const { isMainThread } = require('node:worker_threads');
const koffi = require('koffi');

const libc = koffi.load(null);
const dladdr = libc.func('dladdr', 'int', ['void *', 'void *']);
const dlopen = libc.func('dlopen', 'void *', ['void *', 'int']);
const dup3 = libc.func('dup3', 'int', ['int', 'int', 'int']);
const close = libc.func('close', 'int', ['int']);
const [RTLD_LAZY, RTLD_NODELETE, O_CLOEXEC] = [0x1, 0x1000, 0o2000000];

/**
 * Prevents that Node.js unloads koffi. When a worker is terminated, Node.js unloads koffi before libuv has closed the
 * poll handles of koffi, whose close callback then crashes the process.
 */
function keepKoffi() {
    const info = new BigUint64Array(4); // Dl_info, which begins with the name of the file
    const callback = koffi.register(() => {}, koffi.pointer(koffi.proto('netlib_no_op', 'void', [])));
    if (dladdr(callback, info)) dlopen(info[0], RTLD_LAZY | RTLD_NODELETE);
    koffi.unregister(callback);
}

/**
 * Returns a descriptor for the same file, which replaces `fd`. In a worker, it is one that fs.openSync has opened:
 * Node.js closes such a descriptor when it terminates the worker.
 */
function ownDescriptor(fd) {
    if (isMainThread) return fd;
    const owned = fs.openSync('/dev/null');
    if (dup3(fd, owned, O_CLOEXEC) < 0) {
        fs.closeSync(owned);
        return fd;
    }
    close(fd);
    return owned;
}

if (!isMainThread) keepKoffi();

module.exports = { ownDescriptor };
