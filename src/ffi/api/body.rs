//! Request bodies that can be rewound.

pub mod chunks;

use std::ffi::{c_int, c_void};

use crate::body::{Body, Position, Read};
use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::{arg_buffer, arg_bytes, arg_mut, arg_shared_opt};
use crate::ffi::body_callbacks::callbacks;
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::enums::enum_netlib_outcome;
use crate::ffi::handle::null_argument;
use crate::ffi::out::outs;
use crate::ffi::{Handle, Unique, guard, handle};
use crate::status::Status;

/// The body of a request. **One call at a time**. Before you send a body for the first time, record its position with
/// `netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err)`. Before you send the body again, after a redirect
/// or for a retry, move it back to that position with `netlib_rewind_body(body, pos, &err)`, which fails if the body
/// cannot be moved back.
pub struct netlib_body {
    _private: [u8; 0],
}

impl Handle for netlib_body {
    type Value = Body;
    type Ownership = Unique;
}

/// Reads from an application-defined body (`netlib_body_new`). The callback is called only during `netlib_body_read`,
/// on the thread of that call. If the callback makes a call on the same body, that call fails with `NETLIB_BUSY`.
///
/// @param buf the buffer to fill; its bytes are not initialised.
/// @param len the size of `buf` in bytes, at least 1.
/// @param n out: the number of bytes stored in `buf`, at most `len`; 0 at the end of the body. netlib sets `*n` to
///        `SIZE_MAX` before the call, and the callback must store a number if it returns 0.
/// @return 0 on success; any other number on failure. If the callback fails, or returns 0 without storing `n`,
///         `netlib_body_read` fails with `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_body_read`.
pub type netlib_body_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32>;

/// Stores the read position of an application-defined body (`netlib_body_new`). The callback is called only during
/// `netlib_set_file_position`, on the thread of that call. If the callback makes a call on the same body, that call
/// fails with `NETLIB_BUSY`.
///
/// @param pos out: the position in bytes from the start of the body, 0 or more. netlib presets `pos` to `INT64_MIN`,
///        and the callback must store a value.
/// @return 0 on success; any other number if the position is unknown. If the callback does not return 0, or returns 0
///         without storing `pos`, `netlib_set_file_position` stores `NETLIB_POSITION_FAILED` in `out_pos`.
/// @called-by `netlib_set_file_position`.
pub type netlib_body_tell_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, pos: *mut i64) -> i32>;

/// Moves an application-defined body (`netlib_body_new`) to a position. The callback is called only during
/// `netlib_rewind_body` and `netlib_set_file_position`, on the thread of that call. If the callback makes a call on the
/// same body, that call fails with `NETLIB_BUSY`.
///
/// @param pos the position in bytes from the start of the body, 0 or more.
/// @param outcome out: `NETLIB_OUTCOME_DONE` once the body is at `pos`. netlib presets `outcome` to
///        `NETLIB_OUTCOME_FAILED`. Every value except `NETLIB_OUTCOME_DONE` means failure, which netlib reports as
///        `NETLIB_UNREWINDABLE_BODY`.
/// @called-by `netlib_set_file_position` and `netlib_rewind_body`.
pub type netlib_body_seek_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, pos: i64, outcome: *mut enum_netlib_outcome)>;

/// Stores whether an application-defined body (`netlib_body_new`) has been closed. The callback is called only during
/// `netlib_is_fp_closed`, on the thread of that call. If the callback makes a call on the same body, that call fails
/// with `NETLIB_BUSY`.
///
/// @param closed out: 1 if the body is closed, else 0. netlib presets `closed` to -1, and the callback must store a
///        value.
/// @return 0 on success; any other number on failure. If the callback fails, or returns 0 without storing `closed`,
///         `netlib_is_fp_closed` fails with `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_is_fp_closed`.
pub type netlib_body_is_closed_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, closed: *mut i32) -> i32>;

/// Makes a body from a copy of bytes in memory. The body's position is at its start.
///
/// @return `NETLIB_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_from_memory(
    data: *const c_void,
    len: usize,
    body: *mut *mut netlib_body,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let body = outs!(body);
        body.give(Box::new(Body::from_memory(arg_bytes!(data, len))?));
        Ok(())
    })
}

/// Makes a body that is read from a file, a pipe or a socket, beginning at the descriptor's current position. Reading
/// and rewinding the body moves the descriptor's position; netlib changes nothing else about the descriptor.
///
/// @param fd an open descriptor, borrowed: keep it open while the body is used, and close it afterwards.
/// @param body out: the body; `netlib_body_free` does not close `fd`.
/// @return `NETLIB_INVALID_ARGUMENT` for a negative descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_from_fd(
    fd: c_int,
    body: *mut *mut netlib_body,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let body = outs!(body);
        body.give(Box::new(Body::from_fd(fd)?));
        Ok(())
    })
}

/// Makes an application-defined body, which the application's callbacks read and move.
///
/// @param read reads the body.
/// @param tell stores the position of the body. May be NULL: `netlib_set_file_position` records `NETLIB_POSITION_NONE`.
/// @param seek moves the body. May be NULL: the body cannot be rewound.
/// @param is_closed stores whether the body is closed. May be NULL: `netlib_is_fp_closed` fails.
/// @param ctx_free is called once: when the body is freed; if the function fails, before the function returns. May be
///        NULL: `ctx` must stay usable until the body is freed.
/// @param body out: the body; `netlib_body_free` calls no callback except `ctx_free`.
/// @return `NETLIB_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_new(
    read: netlib_body_read_fn,
    tell: netlib_body_tell_fn,
    seek: netlib_body_seek_fn,
    is_closed: netlib_body_is_closed_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    body: *mut *mut netlib_body,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let body = outs!(body);
        let read = read.ok_or_else(|| null_argument("read"))?;
        body.give(Box::new(Body::from_callbacks(callbacks(read, tell, seek, is_closed, &ctx))));
        Ok(())
    })
}

/// Releases a body. The descriptor of a body from `netlib_body_from_fd` stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_free(body: *mut netlib_body) {
    guard::nothing(|| handle::free(body));
}

/// Sets the limit that ends reads of a body, and keeps a reference to the limit. Later reads obey the limit. Default:
/// no limit, so that a read from a blocking descriptor, such as a pipe, may wait without bound.
///
/// With a limit, netlib polls a blocking descriptor before it reads from the descriptor. Make sure that no other code
/// reads from the descriptor between the poll and the read. After the limit has ended, netlib no longer calls the read
/// callback, but the limit does not interrupt a running callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_set_limit(body: *mut netlib_body, limit: *const netlib_limit) {
    guard::value((), || {
        arg_mut!(body).set_limit(arg_shared_opt!(limit));
        Ok(())
    });
}

/// Reads the next bytes of a body. If the body's descriptor is blocking, the call waits for data, at most until the
/// limit of `netlib_body_set_limit` ends; a signal ends the wait only if the limit has an interrupt check
/// (`netlib_limit_new_interruptible`) that stops the wait.
///
/// @param len the size of `buf` in bytes; with 0, nothing is read, and the call returns `NETLIB_OK`.
/// @param n out: the number of bytes read, which may be less than `len` even before the end of the body.
/// @return `NETLIB_END_OF_STREAM` at the end of the body; `NETLIB_WANT_READ` when a non-blocking descriptor has no data
///         yet; `NETLIB_IO`, with errno; `NETLIB_CALLBACK_FAILED`; `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED`
///         when the limit has ended: the body can still be read later.
/// @blocks if no data has arrived. The body's limit ends the wait, but does not interrupt the read callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_read(
    body: *mut netlib_body,
    buf: *mut c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let mut body = arg_mut!(body);
        Ok(match body.read(arg_buffer!(buf, len))? {
            Read::Bytes(count) => {
                n.set(count);
                Status::Ok
            }
            Read::End => Status::EndOfStream,
            Read::WouldBlock => Status::WantRead,
        })
    })
}

/// Stores the number of bytes of a body that are left to read: the Content-Length of a request that sends the body from
/// its present position.
///
/// @param length out: the number of bytes; -1 when the length is unknown, as for a pipe or an application-defined body.
/// @return `NETLIB_IO`, with errno.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_length(
    body: *mut netlib_body,
    length: *mut i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let length = outs!(length);
        length.set(arg_mut!(body).length()?.unwrap_or(-1));
        Ok(())
    })
}

/// Records the position of a body, or moves the body to a position as `netlib_rewind_body` does.
///
/// @param pos a position in bytes from the start of the body, to move the body there; or `NETLIB_POSITION_NONE`, to
///        record the position.
/// @param out_pos out: after a move, `pos`; otherwise the recorded position, which you later pass to
///        `netlib_rewind_body`. If no position was recorded, the value is `NETLIB_POSITION_FAILED` (the body could not
///        report its position) or `NETLIB_POSITION_NONE` (the body has no `tell` callback).
/// @return `NETLIB_OK`, even when no position could be recorded, because most bodies are sent only once;
///         `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved to `pos`, or `pos` is `NETLIB_POSITION_FAILED`;
///         `NETLIB_INVALID_ARGUMENT` for any other negative `pos`; `NETLIB_CALLBACK_FAILED` if `tell` stored a negative
///         position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_set_file_position(
    body: *mut netlib_body,
    pos: i64,
    out_pos: *mut i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let out_pos = outs!(out_pos);
        let mut body = arg_mut!(body);
        out_pos.set(body.set_file_position(Position::from_number(pos)?)?.number());
        Ok(())
    })
}

/// Moves a body back to a recorded position, so that it can be sent again.
///
/// @param pos the position that `netlib_set_file_position` recorded. At a position beyond the end of the memory or the
///        file, there is nothing to read.
/// @return `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved, and for `NETLIB_POSITION_NONE` and
///         `NETLIB_POSITION_FAILED`, which mean that no position was recorded; `NETLIB_INVALID_ARGUMENT` for any other
///         negative `pos`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rewind_body(
    body: *mut netlib_body,
    pos: i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(body).rewind(Position::from_number(pos)?))
}
