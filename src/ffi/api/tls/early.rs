//! Early data: a client's first words, before the server has answered.

use std::ffi::c_void;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_bool, arg_data, arg_held, arg_mut};
use crate::ffi::enums::enum_netlib_early_data_status;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{guard, options as builder};
use crate::tls::{Context, EarlyData, MemoryEngine, Stream, TlsOptions};

/// What has become of a session's early data; the numbers are OpenSSL's `SSL_EARLY_DATA_…`.
#[repr(C)]
pub enum netlib_early_data_status {
    /// None was written.
    NETLIB_EARLY_DATA_NOT_SENT = 0,
    /// The server has taken none of it: write it again, if it is still wanted. That another one takes a copy is the
    /// risk of all early data.
    NETLIB_EARLY_DATA_REJECTED = 1,
    /// The server has taken it as the beginning of what is written.
    NETLIB_EARLY_DATA_ACCEPTED = 2,
    /// The server has not said so far. When the session has failed: it may have acted on it, or not.
    NETLIB_EARLY_DATA_UNDECIDED = 3,
}

const _: () = {
    use netlib_early_data_status as c;
    assert!(c::NETLIB_EARLY_DATA_NOT_SENT as i32 == EarlyData::NotSent as i32);
    assert!(c::NETLIB_EARLY_DATA_REJECTED as i32 == EarlyData::Rejected as i32);
    assert!(c::NETLIB_EARLY_DATA_ACCEPTED as i32 == EarlyData::Accepted as i32);
    assert!(c::NETLIB_EARLY_DATA_UNDECIDED as i32 == EarlyData::Undecided as i32);
};

/// Sets whether clients may send early data (0-RTT, RFC 8446 section 2.3): bytes that leave together with the first
/// message of the handshake, a round trip before anything else could, when a session of TLS 1.3 is resumed and its
/// server has allowed it, as OpenSSL's servers do with SSL_CTX_set_max_early_data. Default: no.
///
/// **It can be replayed.** Whoever sees early data on its way can send it to the server again, as often as he likes,
/// and the server may act on it each time; nor is it forward secret. So it is for requests whose repetition changes
/// nothing: a GET, HEAD or OPTIONS without side effects, never a POST, a payment, a login, nor a body that cannot be
/// given twice. A server that does not want to act on a request so early answers 425 (Too Early, RFC 8470), which asks
/// for the same request after the handshake.
///
/// This setting sends nothing: `netlib_tls_stream_write_early_data` does. It is for one application protocol at most,
/// because the bytes are written before one is agreed on. A server that answers with TLS 1.2 to a client that offers
/// early data ends the handshake with `NETLIB_TLS_INCOMPATIBLE`; connect again, without. Servers of netlib allow and
/// accept none.
///
/// @param on 0 or 1. With 1, `netlib_tls_context_new` refuses several application protocols, and resumption that is
///        off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_early_data(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_early_data", |options: &mut TlsOptions| {
        options.set_early_data(arg_bool!(on));
        Ok(())
    });
}

/// Returns 1 if clients may send early data: `netlib_tls_options_set_early_data`, and no ECHConfigList, beside which no
/// session is resumed. Returns 0 otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_early_data(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, Context::early_data)
}

/// Writes early data, as much of it as the server has allowed, on a client's stream whose handshake is not done: see
/// `netlib_tls_options_set_early_data` for what may never be sent so. As SSL_write_early_data.
///
/// Where none may be sent that is no failure: nothing is written, and `n` is 0. So is it when no session is resumed,
/// when its ticket allows none, or no more, when the server has refused it already, after the handshake, and for a
/// server's stream. What was taken is encrypted and leaves with this call or the next one that does something. Nothing
/// is ever sent again by itself. So, for a request that may be sent so:
///
///     netlib_tls_stream_write_early_data(stream, request, len, &n, &err);
///     netlib_tls_stream_handshake(stream, &err);
///     if (netlib_tls_stream_early_data_status(stream) != NETLIB_EARLY_DATA_ACCEPTED) n = 0;
///     netlib_tls_stream_write(stream, request + n, len - n, &written, &err);
///
/// with the status of each call looked at. The handshake stands between because only then it is known whether the
/// server has taken the beginning: a write that comes at once sends what follows, even if it has not.
///
/// Until the handshake is done the server has proved nothing; early data can be read by whoever can read the ticket,
/// which is the server of the session that is resumed.
///
/// @param len how many; -1 is refused, not `NETLIB_NTS`.
/// @param n out: how many bytes were taken; when not blocking, call again for the rest as long as it is not 0.
/// @return `NETLIB_OK`, also when nothing may be sent; `NETLIB_WANT_WRITE` if not blocking and nothing was taken
///         because what came before could not be sent yet; `NETLIB_CLOSED` after a shutdown; all that
///         `netlib_tls_stream_handshake` returns, and then `netlib_tls_stream_early_data_written` says how much was
///         taken.
/// @threads one writer at a time, beside one reader
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_write_early_data(
    stream: *mut netlib_tls_stream,
    buf: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_held!(stream, Stream::may_call_back).write_early(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns what has become of the early data; final when the handshake is done; `NETLIB_EARLY_DATA_NOT_SENT` for NULL.
/// As SSL_get_early_data_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_early_data_status(
    stream: *const netlib_tls_stream,
) -> enum_netlib_early_data_status {
    read(stream, netlib_early_data_status::NETLIB_EARLY_DATA_NOT_SENT as i32, |stream| stream.early_data() as i32)
}

/// Returns how much early data may still be written: the count in bytes; 0 when none may be sent. As
/// SSL_SESSION_get_max_early_data, less what was written; known before the first byte is sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_early_data_left(stream: *const netlib_tls_stream) -> usize {
    read(stream, 0, Stream::early_data_left)
}

/// Returns how much early data was written in all, also by calls that failed: the count in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_early_data_written(stream: *const netlib_tls_stream) -> usize {
    read(stream, 0, Stream::early_data_written)
}

/// Encrypts early data into the output, as `netlib_tls_stream_write_early_data`: what may never be sent so stands at
/// `netlib_tls_options_set_early_data`.
///
/// @param len how many; -1 is refused, not `NETLIB_NTS`.
/// @param n out: how many bytes were taken; 0 with `NETLIB_OK` when no more may be sent.
/// @return `NETLIB_OK`, also when nothing may be sent; `NETLIB_WANT_WRITE` when nothing was taken because 256 KiB or
///         more wait to be drained; `NETLIB_CLOSED` after a shutdown; all that `netlib_tls_engine_handshake` returns
///         but `NETLIB_WANT_READ`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_write_early_data(
    engine: *mut netlib_tls_engine,
    buf: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_mut!(engine).write_early(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns what has become of the early data; as `netlib_tls_stream_early_data_status`; final when the handshake is
/// done; `NETLIB_EARLY_DATA_NOT_SENT` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_status(
    engine: *const netlib_tls_engine,
) -> enum_netlib_early_data_status {
    read(engine, netlib_early_data_status::NETLIB_EARLY_DATA_NOT_SENT as i32, |engine| engine.early_data() as i32)
}

/// Returns how much early data may still be written; as `netlib_tls_stream_early_data_left`: the count in bytes; 0 when
/// none may be sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_left(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::early_data_left)
}

/// Returns how much early data was written in all: the count in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_written(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::early_data_written)
}
