//! Early data (0-RTT).

use std::ffi::c_void;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_bool, arg_data, arg_kept_alive, arg_mut};
use crate::ffi::enums::enum_netlib_early_data_status;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{guard, options as builder};
use crate::stream::Stream;
use crate::tls::{Context, EarlyData, MemoryEngine, TlsOptions};

/// Outcomes of early data, with the numbers of OpenSSL's `SSL_EARLY_DATA_…`.
#[repr(C)]
pub enum netlib_early_data_status {
    /// No early data was sent: the application wrote none, or early data was not possible.
    NETLIB_EARLY_DATA_NOT_SENT = 0,
    /// The server ignored the early data: if the data is still needed, write the data again. As with all early data,
    /// another server may have accepted a copy.
    NETLIB_EARLY_DATA_REJECTED = 1,
    /// The server accepted the early data as the beginning of the application data.
    NETLIB_EARLY_DATA_ACCEPTED = 2,
    /// Early data was sent, and the server has not answered yet whether it accepts the data. If the session has failed,
    /// the server may or may not have acted on the early data.
    NETLIB_EARLY_DATA_UNDECIDED = 3,
}

const _: () = {
    use netlib_early_data_status as c;
    assert!(c::NETLIB_EARLY_DATA_NOT_SENT as i32 == EarlyData::NotSent as i32);
    assert!(c::NETLIB_EARLY_DATA_REJECTED as i32 == EarlyData::Rejected as i32);
    assert!(c::NETLIB_EARLY_DATA_ACCEPTED as i32 == EarlyData::Accepted as i32);
    assert!(c::NETLIB_EARLY_DATA_UNDECIDED as i32 == EarlyData::Undecided as i32);
};

/// Sets whether clients may send early data (0-RTT, RFC 8446 section 2.3): bytes that are sent with the first message
/// of the handshake, and so save a round trip. Early data is possible when the handshake resumes a TLS 1.3 session for
/// which the server allowed early data, as OpenSSL's servers do with SSL_CTX_set_max_early_data. Default: 0.
///
/// **Early data can be replayed.** An observer of the connection can send early data to the server again, any number of
/// times, and the server may act on it each time. Early data has no forward secrecy. Use early data only for requests
/// whose repetition changes nothing: a GET, HEAD or OPTIONS without side effects, never a POST, a payment, a login, or
/// a body that cannot be read twice. A server that refuses to act on early data answers 425 (Too Early, RFC 8470): send
/// the same request after the handshake.
///
/// The setting itself sends nothing: `netlib_stream_write_early_data` sends early data. The context may offer at
/// most one application protocol, because early data is written before a protocol is negotiated. If a server negotiates
/// TLS 1.2 with a client that offers early data, the handshake fails with `NETLIB_TLS_INCOMPATIBLE`; connect again
/// without early data. Servers of netlib neither allow nor accept early data.
///
/// @param on 0 or 1. With 1, `netlib_tls_context_new` fails if there are several application protocols, or if
///        resumption is off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_early_data(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_early_data", |options: &mut TlsOptions| {
        options.set_early_data(arg_bool!(on));
        Ok(())
    });
}

/// Returns 1 if clients may send early data, else 0: see `netlib_tls_options_set_early_data`. A context with an
/// ECHConfigList resumes no session and sends no early data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_early_data(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, Context::early_data)
}

/// Writes early data, as much as the server allowed, on a client's stream whose handshake is not done. See
/// `netlib_tls_options_set_early_data` for data that must never be sent as early data. Corresponds to OpenSSL's
/// SSL_write_early_data.
///
/// If early data is not possible, the call succeeds with `n` 0. Early data is not possible if no session is resumed, if
/// the ticket of the session allows no early data, if the bytes that the ticket allows are used up, if the server has
/// already ignored the early data, after the handshake, and on a server's stream or a plain stream. The call encrypts
/// the `n` bytes that it takes; they are sent by the same call or by the next read, write or handshake. netlib never
/// sends early data a second time. To send a request as early data:
///
///     status = netlib_stream_write_early_data(stream, request, len, &n, &err);
///     if (status == NETLIB_OK) status = netlib_stream_handshake(stream, &err);
///     if (netlib_stream_early_data_status(stream) != NETLIB_EARLY_DATA_ACCEPTED) n = 0;
///     if (status == NETLIB_OK) status = netlib_stream_write(stream, request + n, len - n, &written, &err);
///
/// Check the status of each call. The handshake must precede the write, because the handshake shows whether the server
/// accepted the early data. A write before the handshake would send only the rest of the request, even if the server
/// ignores the early data.
///
/// Until the handshake is done, the server has not proved its identity again. Only a server that can decrypt the
/// ticket, which is the server of the resumed session, can read early data.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes that the call has taken from `buf`. For a non-blocking stream, call again with the
///        rest until the call returns `NETLIB_OK` with `n` 0.
/// @return `NETLIB_OK`, even when no early data is possible; `NETLIB_WANT_WRITE` if the stream is non-blocking and the
///         call took no byte, because earlier bytes could not be sent yet; `NETLIB_CLOSED` after a shutdown; all that
///         `netlib_stream_handshake` returns. A failed call sets `n` to 0, but may have taken bytes:
///         `netlib_stream_early_data_written` counts them.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_write_early_data(
    stream: *mut netlib_stream,
    buf: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_kept_alive!(stream, |_| true).write_early(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns the outcome of a stream's early data, which is final when the handshake is done;
/// `NETLIB_EARLY_DATA_NOT_SENT` for NULL. Corresponds to OpenSSL's SSL_get_early_data_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_early_data_status(
    stream: *const netlib_stream,
) -> enum_netlib_early_data_status {
    read(stream, netlib_early_data_status::NETLIB_EARLY_DATA_NOT_SENT as i32, |stream| stream.early_data() as i32)
}

/// Returns the number of bytes of early data that may still be written; 0 when no early data is possible. Corresponds
/// to OpenSSL's SSL_SESSION_get_max_early_data minus the bytes already written. The number is known before the first
/// byte is sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_early_data_left(stream: *const netlib_stream) -> usize {
    read(stream, 0, Stream::early_data_left)
}

/// Returns the number of bytes of early data that `netlib_stream_write_early_data` has taken from the application,
/// including the bytes that failed calls took. The number does not tell whether the server accepted the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_early_data_written(stream: *const netlib_stream) -> usize {
    read(stream, 0, Stream::early_data_written)
}

/// Encrypts early data into the output of an engine, as `netlib_stream_write_early_data` does for a stream. See
/// `netlib_tls_options_set_early_data` for data that must never be sent as early data.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes that the call has taken from `buf`; 0 with `NETLIB_OK` when no more early data is
///        possible.
/// @return `NETLIB_OK`, even when no early data is possible; `NETLIB_WANT_WRITE` when the call took no byte, because
///         256 KiB or more of output were not drained yet; `NETLIB_CLOSED` after a shutdown; all that
///         `netlib_tls_engine_handshake` returns except `NETLIB_WANT_READ`.
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

/// Returns for an engine what `netlib_stream_early_data_status` returns for a stream; `NETLIB_EARLY_DATA_NOT_SENT` for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_status(
    engine: *const netlib_tls_engine,
) -> enum_netlib_early_data_status {
    read(engine, netlib_early_data_status::NETLIB_EARLY_DATA_NOT_SENT as i32, |engine| engine.early_data() as i32)
}

/// Returns for an engine what `netlib_stream_early_data_left` returns for a stream; 0 if early data is impossible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_left(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::early_data_left)
}

/// Returns the number of bytes of early data that `netlib_tls_engine_write_early_data` has accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_early_data_written(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::early_data_written)
}
