//! Session resumption.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg, arg_mut, arg_shared_opt};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, guard, handle};
use crate::tls::{Context, SavedSession};

/// A TLS session that a client can resume in a later handshake without certificates, which is cheaper for client and
/// server. Corresponds to Python's `ssl.SSLSession` and OpenSSL's SSL_SESSION. **Thread-safe**.
///
/// Few applications need this handle: a context caches sessions, and its streams and engines resume them without
/// further calls (`netlib_tls_options_set_resumption`). Take a session out of the cache to choose the connection that
/// resumes it. A session can be resumed only with the context that made it, for the same server name and with the same
/// application protocols offered. A session is not bound to a port, an address or a proxy: only a server that has
/// proved the name, or that shares the keys of that server, can resume the session. If no session is set for a stream,
/// the stream resumes a session from the context's cache.
///
/// A TLS 1.3 session is a ticket for one connection, so that an observer cannot link two connections of one client (RFC
/// 8446 appendix C.4). A TLS 1.2 session can be used several times. A session cannot be serialised: it does not outlive
/// the process. A forked child has a copy of each session; use a ticket in only one of the two processes.
pub struct netlib_tls_session {
    _private: [u8; 0],
}

impl Handle for netlib_tls_session {
    type Value = SavedSession;
    type Ownership = Shared;
}

/// Returns another reference to the same session. If a session is used up through one reference, it is used up for all
/// references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_clone(session: *const netlib_tls_session) -> *mut netlib_tls_session {
    handle::clone(session)
}

/// Releases a session. When the last reference is released, netlib overwrites the secret of the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_free(session: *mut netlib_tls_session) {
    guard::nothing(|| handle::free(session));
}

/// Returns the host name that the server of a session has proved, or the unchecked name if the context does not check
/// host names, in the form of `netlib_stream_server_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_server_name(
    session: *const netlib_tls_session,
    len: *mut usize,
) -> *const c_char {
    lend_text(session, len, |session| Some(session.server_name()))
}

/// Returns the TLS version of a session: `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`;
/// `NETLIB_TLS_VERSION_NONE` for NULL. Corresponds to OpenSSL's SSL_SESSION_get_protocol_version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_version(session: *const netlib_tls_session) -> enum_netlib_tls_version {
    read(session, 0, |session| session.version() as i32)
}

/// Returns the time at which the client received a session from the server, by the system's clock, in seconds since
/// 1970-01-01 00:00:00 UTC. Corresponds to Python's `SSLSession.time` and OpenSSL's SSL_SESSION_get_time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_time(session: *const netlib_tls_session) -> i64 {
    read(session, 0, |session| i64::try_from(session.time()).unwrap_or(i64::MAX))
}

/// Returns 1 if a session can still be resumed, else 0. A session can be resumed if it is not used up and not older
/// than seven days, and if the server's certificates and CRLs have not expired. The function considers neither the
/// clock of `netlib_tls_options_set_wall_clock` nor a shorter lifetime that the server has set. If the session has
/// expired by this clock or by the server's lifetime, or if the server no longer accepts the session, the handshake is
/// a full handshake.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_is_resumable(session: *const netlib_tls_session) -> i32 {
    read_bool(session, false, SavedSession::is_resumable)
}

/// Takes a session out of the context's cache: the newest session that the server has sent to a client's stream.
/// Corresponds to Python's `SSLSocket.session` and OpenSSL's SSL_get1_session, but each session can be taken only once.
///
/// TLS 1.3 servers send sessions after the handshake, usually two together with the first data, so read data before you
/// take a session. The context caches only the latest sessions, at most 8 per server name and 256 in all, so take a
/// session soon.
///
/// @param session out: the session. NULL if there is none: the server sends no sessions, or none has arrived yet; all
///        sessions of the stream were already taken, or another stream has used up the ticket; the context no longer
///        caches the session; the context does not resume sessions; the stream has no host name; or the stream is a
///        plain stream.
/// @return `NETLIB_OK`, even if there is no session; `NETLIB_INVALID_ARGUMENT` for a server's stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_take_session(
    stream: *mut netlib_stream,
    session: *mut *mut netlib_tls_session,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let session = outs!(session);
        if let Some(taken) = arg!(stream).take_session()? {
            session.give(Arc::new(taken));
        }
        Ok(())
    })
}

/// Sets the session that a client's stream resumes. Call this function before the handshake. Corresponds to Python's
/// `wrap_socket(session=…)` and OpenSSL's SSL_set_session. Default: a session from the context's cache, if there is
/// one.
///
/// If the server does not accept the session, the handshake is a full handshake: see `netlib_stream_is_resumed`. A
/// TLS 1.3 session is used up once it is set, and a TLS 1.2 session is used up if the handshake fails. If setting the
/// session fails, the stream is unchanged. A later call replaces the session of an earlier call.
///
/// @param session the session. May be NULL: no session is resumed, so the new connection does not reveal earlier
///        connections of the same client. Even then, the context caches the sessions that the server sends.
/// @param err the reason why the stream cannot resume the session.
/// @return `NETLIB_INVALID_ARGUMENT` if the session belongs to another context, another server name or other offered
///         application protocols, is used up, or is too old, or if the context does not resume sessions. Even without a
///         session, `NETLIB_INVALID_ARGUMENT` if the handshake has begun, and for a server's stream;
///         `NETLIB_UNSUPPORTED` for a plain stream; `NETLIB_BUSY` if another stream runs inside the stream; the status
///         with which the stream has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_session(
    stream: *mut netlib_stream,
    session: *const netlib_tls_session,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = arg!(stream);
        stream.set_session(arg_shared_opt!(session).as_ref())
    })
}

/// Takes the newest session of a client's engine out of the context's cache, as `netlib_stream_take_session` does
/// for a stream.
///
/// @param session out: the session; NULL if there is none.
/// @return `NETLIB_OK`, even if there is no session; `NETLIB_INVALID_ARGUMENT` for a server's engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_take_session(
    engine: *mut netlib_tls_engine,
    session: *mut *mut netlib_tls_session,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let session = outs!(session);
        if let Some(taken) = arg_mut!(engine).take_session()? {
            session.give(Arc::new(taken));
        }
        Ok(())
    })
}

/// Sets the session that a client's engine resumes, as `netlib_stream_set_session` does for a stream. Default: a
/// session from the context's cache, if there is one.
///
/// @param session the session. May be NULL: no session is resumed.
/// @param err the reason why the engine cannot resume the session.
/// @return `NETLIB_INVALID_ARGUMENT` in the cases that `netlib_stream_set_session` lists; the status with which the
///         engine has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_set_session(
    engine: *mut netlib_tls_engine,
    session: *const netlib_tls_session,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let mut engine = arg_mut!(engine);
        engine.set_session(arg_shared_opt!(session).as_ref())
    })
}

/// Returns the number of sessions in the context's cache that a client could resume, at most 256. Corresponds to
/// OpenSSL's SSL_CTX_sess_number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_session_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::session_count)
}

/// Removes all clients' sessions from the context's cache: the next connection to each server makes a full handshake,
/// in which the server proves its identity again. Sessions that were taken out of the cache remain usable. Corresponds
/// to OpenSSL's SSL_CTX_flush_sessions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_forget_sessions(context: *const netlib_tls_context) {
    read(context, (), Context::forget_sessions);
}
