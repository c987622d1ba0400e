//! Stores, in which processes share state.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::args::{arg_cstr, arg_path};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::enums::enum_netlib_swap;
use crate::ffi::handle::null_argument;
use crate::ffi::out::outs;
use crate::ffi::{Handle, Shared, guard, handle, swap_callback};
use crate::overload::store::Store;

/// A store, in which several processes share budgets and rates, for example the workers of one server. **Thread-safe**.
///
/// A store keeps one word of 64 bits for each key of a budget and of a rate. `netlib_store_file` keeps the words in a
/// file, for the processes of one host. With `netlib_store_new`, a callback of the application keeps the words, for
/// example on a Redis server (examples-c/store_redis.c). Pass the store to `netlib_retry_budget_options_set_store` or
/// `netlib_rate_options_set_store`. All processes that share a store must use the same settings of the budget and of
/// the rate, because a word contains no settings.
///
/// A retry budget accesses the store only before a retry, and never before a first attempt, because an application
/// should not wait for a store when nothing has failed. A process collects the tokens that its outcomes add and take,
/// and reports them to the store with its next retry. A rate accesses the store at each `netlib_rate_take`.
///
/// If the store loses a word, for example because a server was restarted without its data, the budget or rate of the
/// key starts full. After fork(2), parent and child share the store.
pub struct netlib_store {
    _private: [u8; 0],
}

impl Handle for netlib_store {
    type Value = Store;
    type Ownership = Shared;
}

/// The answers of a swap callback. Any number that is not listed here means failure.
#[repr(C)]
pub enum netlib_swap {
    /// The callback failed because of a bug, for example an exception. The outer call fails with
    /// `NETLIB_CALLBACK_FAILED`.
    NETLIB_SWAP_FAILED = 0,
    /// The word was `expected`, and is now `desired`.
    NETLIB_SWAP_SWAPPED = 1,
    /// The word was not `expected`, and was not changed. The callback has stored the word in `actual`.
    NETLIB_SWAP_CHANGED = 2,
    /// The store could not be reached, or did not answer within `timeout`. The `netlib_unavailable` policy applies.
    NETLIB_SWAP_UNAVAILABLE = 3,
}

/// Replaces a word of the store if the word has an expected value (a compare-and-swap). netlib calls the callback
/// without a lock, possibly on several threads at once. The callback must make the comparison and the replacement
/// atomic for all processes that use the store, for example in a Lua script on a Redis server.
///
/// netlib reads a word by replacing 0 by 0, so a decision that grants needs two calls, and a decision that denies needs
/// one. If other processes change the word between two calls, netlib makes up to 64 calls, and then treats the store as
/// unavailable. If the server does not answer, the callback should store `NETLIB_SWAP_UNAVAILABLE` at once for a
/// while, for example for a second, so that not every decision waits for the timeout.
///
/// @param key the name of the word: `budget:` or `rate:` and the key that was passed to netlib, which may contain any
///        bytes. The key is not NUL-terminated. The callback may put a name of the application before it.
/// @param len the length of `key`, at most 1,031.
/// @param expected the expected word. 0 is the word of a key that the store does not have.
/// @param desired the new word.
/// @param ttl the seconds without a change after which the store may forget the word.
/// @param timeout the seconds after which netlib ignores the answer, more than 0. This is the rest of the timeout of
///        `netlib_store_new`, or of the limit of the outer call if that ends earlier.
/// @param answer out: the answer of the store. netlib presets `answer` to `NETLIB_SWAP_FAILED`. If the value is no
///        `netlib_swap`, or if the callback did not store an output that the answer requires, the outer call fails with
///        `NETLIB_CALLBACK_FAILED` under every policy.
/// @param actual out: the word, if it was not `expected`.
/// @param now out: the time of the store in seconds since any fixed moment, 0 to 1.8e10, unless the answer is
///        `NETLIB_SWAP_UNAVAILABLE`. All processes must get the time from the same clock, such as the clock of the
///        server. `netlib_rate_options_set_limit` states the effect if the time steps back; a budget does not use the
///        time. netlib does not use the time of a call that has changed the word. netlib presets `now` to NaN.
/// @called-by `netlib_retry_budget_ask`, `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide`,
///        `netlib_hedge_plan_step` and `netlib_rate_take`.
pub type netlib_store_swap_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        key: *const c_char,
        len: usize,
        expected: u64,
        desired: u64,
        ttl: f64,
        timeout: f64,
        answer: *mut enum_netlib_swap,
        actual: *mut u64,
        now: *mut f64,
    ),
>;

/// Opens a store in a file, for the processes of one host. The first process creates the file, with the mode 0600. Each
/// process maps the file into its memory and changes words with an atomic instruction, so an update takes no system
/// call and no lock, and a process that is killed at any moment leaves the words intact. Handles of the same file share
/// the words.
///
/// The hash of a key selects one of the slots, and a slot contains no key. Two keys whose hashes select the same slot
/// therefore share one budget and one rate. With n keys, a key shares its slot with a probability of about n / `slots`,
/// so choose `slots` 100 times as large as the number of keys. The hash depends on a random number in the file, so a
/// server cannot choose names that collide.
///
/// The time of the store is the system's monotonic clock. The file contains the boot id of the machine, and the first
/// process that opens the file after the machine was started sets all words to 0. On systems without
/// /proc/sys/kernel/random/boot_id, the words are kept, and a rate has no permissions when it is used for the first
/// time after the start.
///
/// Put the file in a directory that only the user of the workers can write to, on a local file system, such as
/// /run/myapp. Use one file for each container, because the boot id or the clock of a container may differ from those
/// of the host. The file is refused if it is a symbolic link, not a regular file or has several hard links, if its owner
/// is not the effective user, or if its mode gives its group or others any permission. The file is also refused if
/// another program wrote it, or if it has another number of slots, another size or another format. An empty file and a
/// file of zeros are treated as new.
///
/// Do not truncate the file while a process uses it: the process would be killed by SIGBUS, as for every mapped file. A
/// full disk does no harm on file systems that overwrite blocks in place, such as tmpfs, ext4 and xfs, because each
/// process that opens the file reserves its blocks; btrfs and ZFS write to new blocks. To replace the file, stop
/// all processes that use it.
///
/// @param path the path of the file. Its directory must exist.
/// @param slots the number of slots, 1 to 1,048,576, which must be the same in all processes. The size of the file is
///        64 bytes plus 16 bytes for each slot.
/// @return `NETLIB_IO` if the file cannot be created, opened, locked, read, written or mapped;
///         `NETLIB_STORE_UNAVAILABLE` if the file is refused, or if another process has locked it for 5 seconds. The
///         message names the path and the reason. `NETLIB_INVALID_ARGUMENT` for a number of slots out of range.
/// @blocks while another process creates or checks the file: usually for some milliseconds, at most 5 seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_store_file(
    path: *const c_char,
    slots: usize,
    store: *mut *mut netlib_store,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let store = outs!(store);
        store.give(Arc::new(Store::open_file(&arg_path!(path), slots)?));
        Ok(())
    })
}

/// Makes a store whose words the application keeps, for example on a server. The call does not call `swap`.
///
/// @param swap the callback that reads and changes a word.
/// @param timeout the seconds that all calls of `swap` for one decision may take together, more than 0, or
///        `NETLIB_TIMEOUT_NONE`. If the outer call has a limit that ends earlier, that limit applies. After this time,
///        the store counts as unavailable. netlib cannot interrupt the callback, so the callback must obey its
///        parameter `timeout`.
/// @param ctx_free is called when the store and everything that uses it have been freed, or before this call returns if
///        the call fails. May be NULL: `ctx` is not released.
/// @return `NETLIB_INVALID_ARGUMENT` for a timeout that is 0, negative or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_store_new(
    swap: netlib_store_swap_fn,
    timeout: f64,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    store: *mut *mut netlib_store,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let store = outs!(store);
        let swap = swap_callback::swap(swap.ok_or_else(|| null_argument("swap"))?, ctx);
        store.give(Arc::new(Store::from_swap(swap, timeout)?));
        Ok(())
    })
}

/// Returns another reference to the same store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_store_clone(store: *const netlib_store) -> *mut netlib_store {
    handle::clone(store)
}

/// Releases a store. The words stay in the file or on the server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_store_free(store: *mut netlib_store) {
    guard::nothing(|| handle::free(store));
}
