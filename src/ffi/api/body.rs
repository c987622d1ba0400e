//! Request bodies that can be rewound.

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

/// The body of a request. **Single**. Before it is sent for the first time, record its position with
/// `netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err)`; before it is sent again, after a redirect or for
/// a retry, move it back with `netlib_rewind_body(body, pos, &err)`, which fails, before a byte is sent, if the body
/// cannot be moved.
pub struct netlib_body {
    _private: [u8; 0],
}

impl Handle for netlib_body {
    type Value = Body;
    type Ownership = Unique;
}

/// Reads from an application-defined body (`netlib_body_new`). Called only during `netlib_body_read`, on its thread. A
/// call on the body itself fails with `NETLIB_BUSY`.
///
/// @param buf the buffer to fill; its bytes are not initialised.
/// @param len the room in bytes, at least 1.
/// @param n out: the number of bytes stored in `buf`, at most `len`; 0 at the end of the body. It is preset to
///        `SIZE_MAX`, and the callback must store a value.
/// @return 0 on success; any other number on failure. `netlib_body_read` reports a failure, or 0 without a stored `n`,
///         as `NETLIB_CALLBACK_FAILED`.
pub type netlib_body_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32>;

/// Reports the read position of an application-defined body (`netlib_body_new`). Called only during
/// `netlib_set_file_position`, on its thread. A call on the body itself fails with `NETLIB_BUSY`.
///
/// @param pos out: bytes from the start, 0 or more. It is preset to `INT64_MIN`, and the callback must store a value.
/// @return 0 on success; any other number if the position is unknown. An unknown position, or 0 without a stored `pos`,
///         is recorded as `NETLIB_POSITION_FAILED`.
pub type netlib_body_tell_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, pos: *mut i64) -> i32>;

/// Moves an application-defined body (`netlib_body_new`) to a position. Called only during `netlib_rewind_body` and
/// `netlib_set_file_position`, on their thread. A call on the body itself fails with `NETLIB_BUSY`.
///
/// @param pos bytes from the start, 0 or more.
/// @return `NETLIB_OUTCOME_DONE` once the body is at `pos`; any other number, 0 included, is a failure, which is
///         reported as `NETLIB_UNREWINDABLE_BODY`.
pub type netlib_body_seek_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, pos: i64) -> enum_netlib_outcome>;

/// Reports whether an application-defined body (`netlib_body_new`) has been closed. Called only during
/// `netlib_is_fp_closed`, on its thread. A call on the body itself fails with `NETLIB_BUSY`.
///
/// @param closed out: 1 if it is closed, else 0. It is preset to -1, and the callback must store a value.
/// @return 0 on success; any other number on failure. A failure, or 0 without a stored `closed`, is reported as
///         `NETLIB_CALLBACK_FAILED`.
pub type netlib_body_is_closed_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, closed: *mut i32) -> i32>;

/// Makes a body of bytes in memory, at its start.
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

/// Makes a body that is read from a file, a pipe or a socket, from the descriptor's current position. Reading and
/// rewinding the body moves the descriptor's position; netlib changes nothing else about the descriptor.
///
/// @param fd an open descriptor, borrowed: keep it open while the body is used, and close it afterwards.
/// @param body out: `netlib_body_free` does not close `fd`.
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

/// Makes a body that the application's callbacks read and move.
///
/// @param read reads the body.
/// @param tell reports the position. May be NULL: `netlib_set_file_position` records `NETLIB_POSITION_NONE`.
/// @param seek moves the body. May be NULL: the body cannot be moved back.
/// @param is_closed reports whether the body is closed. May be NULL: `netlib_is_fp_closed` fails.
/// @param ctx_free is called once, when the body is freed, or before this call returns if it fails. May be NULL: `ctx`
///        must stay usable until the body is freed.
/// @param body out: `netlib_body_free` calls no callback except `ctx_free`.
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

/// Releases a body. A descriptor stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_free(body: *mut netlib_body) {
    guard::nothing(|| handle::free(body));
}

/// Sets the limit that ends the reads of this body, and keeps a reference to it. Calls that begin later obey it.
/// Default: none, so that a read of a descriptor that blocks, such as a pipe, waits as long as the descriptor does.
///
/// A descriptor is polled before it is read, so no other code may read it meanwhile. A read callback is not called once
/// the limit has ended, but a running one is not interrupted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_set_limit(body: *mut netlib_body, limit: *const netlib_limit) {
    guard::value((), || {
        arg_mut!(body).set_limit(arg_shared_opt!(limit));
        Ok(())
    });
}

/// Reads the next bytes of a body. For a blocking descriptor it waits, until the limit of `netlib_body_set_limit` if
/// there is one; a signal does not end the wait.
///
/// @param len the room in bytes; with 0 nothing is read, and `NETLIB_OK` is returned.
/// @param n out: the number of bytes read, which may be fewer than `len` anywhere in the body.
/// @return `NETLIB_END_OF_STREAM` at the end; `NETLIB_WANT_READ` when a non-blocking descriptor has no data yet;
///         `NETLIB_IO`, with errno; `NETLIB_CALLBACK_FAILED`; `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` when
///         the limit has ended, after which the read can be tried again.
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

/// Stores the number of bytes of a body that are left to read: the Content-Length if the body is sent now.
///
/// @param length out: the number of bytes; -1 when only reading to the end can tell, as for a pipe or an
///        application-defined body.
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

/// Records the position of a body, or moves it to a position as `netlib_rewind_body` does.
///
/// @param pos bytes from the start; or `NETLIB_POSITION_NONE`, to record.
/// @param out_pos out: `pos`, or the position recorded, to be given to `netlib_rewind_body` later:
///        `NETLIB_POSITION_FAILED` if the body could not tell, `NETLIB_POSITION_NONE` if it has no `tell`.
/// @return `NETLIB_OK`, even when no position could be recorded, because most bodies are sent only once;
///         `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved to `pos`, or `pos` is `NETLIB_POSITION_FAILED`;
///         `NETLIB_INVALID_ARGUMENT` for any other negative `pos`; `NETLIB_CALLBACK_FAILED` for a negative position
///         from `tell`.
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
/// @param pos the position that `netlib_set_file_position` recorded. Beyond the end of bytes in memory or of a file
///        there is nothing to read.
/// @return `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved, or no position was recorded: `pos` is
///         `NETLIB_POSITION_NONE` or `NETLIB_POSITION_FAILED`; `NETLIB_INVALID_ARGUMENT` for any other negative `pos`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rewind_body(
    body: *mut netlib_body,
    pos: i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(body).rewind(Position::from_number(pos)?))
}
