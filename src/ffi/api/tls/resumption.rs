//! Sessions that are resumed: what a context remembers of them, and sessions in the program's own hands.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::args::{arg, arg_mut, arg_shared_opt};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, guard, handle};
use crate::tls::{Context, SavedSession};

/// A session that a client can resume: a later handshake without certificates, cheaper for both sides. As Python's
/// `ssl.SSLSession` and OpenSSL's SSL_SESSION. **Thread-safe**.
///
/// Few programs need one: a context remembers sessions by itself, and its streams and engines resume them
/// (`netlib_tls_options_set_resumption`). Take one out to decide yourself which connection resumes it. It is resumed
/// only by the context that made it, for the same server name and under the same offer of application protocols. It is
/// not bound to a port, an address or a proxy: whoever can resume it is the server that has proved the name, or shares
/// its keys. A stream for which none is set resumes what the context still remembers.
///
/// A TLS 1.3 session is a ticket for one connection, so that an observer cannot link two connections of one client (RFC
/// 8446 appendix C.4). A TLS 1.2 session can be used several times. A session cannot be serialised: it does not outlive
/// the process. A forked child has a copy of each session; use a ticket in one of the two processes only.
pub struct netlib_tls_session {
    _private: [u8; 0],
}

impl Handle for netlib_tls_session {
    type Value = SavedSession;
    type Ownership = Shared;
}

/// Returns another reference to the same session: what uses one up uses up the other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_clone(session: *const netlib_tls_session) -> *mut netlib_tls_session {
    handle::clone(session)
}

/// Releases a session. With the last reference its secret is overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_free(session: *mut netlib_tls_session) {
    guard::nothing(|| handle::free(session));
}

/// Returns the name that the server has proved, or that was not checked if the context checks none, in the form of
/// `netlib_tls_stream_server_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_server_name(
    session: *const netlib_tls_session,
    len: *mut usize,
) -> *const c_char {
    lend_text(session, len, |session| Some(session.server_name()))
}

/// Returns the version of TLS with which it was made and will be resumed: `NETLIB_TLS_VERSION_1_2` or
/// `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_NONE` for NULL. As SSL_SESSION_get_protocol_version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_version(session: *const netlib_tls_session) -> enum_netlib_tls_version {
    read(session, 0, |session| session.version() as i32)
}

/// Returns when the server gave it: seconds since 1970-01-01 00:00:00 UTC, by the system's clock. As Python's
/// `SSLSession.time`, SSL_SESSION_get_time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_time(session: *const netlib_tls_session) -> i64 {
    read(session, 0, |session| i64::try_from(session.time()).unwrap_or(i64::MAX))
}

/// Whether it can still be resumed: it is not used up, and neither seven days old nor older than the server's
/// certificates and the lists of revoked ones are good for. A shorter life that the server has set counts too, when it
/// is resumed, and a wall clock of the program's that was set: that connection then makes a full handshake, as it does
/// if the server has forgotten the session.
///
/// @return the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_session_is_resumable(session: *const netlib_tls_session) -> i32 {
    read_bool(session, false, SavedSession::is_resumable)
}

/// Takes a session out of the context's memory: the newest that the server has given to this stream. As Python's
/// `SSLSocket.session` and SSL_get1_session, but each session is taken once.
///
/// Servers of TLS 1.3 give sessions after the handshake, mostly two, with the first data: read before this. The context
/// remembers at most 8 sessions of a name and 256 in all, those that came last, so take them soon.
///
/// @param stream the stream, a client's.
/// @param session NULL if there is none: the server sends none, none has arrived yet, another stream has resumed it,
///        the context has forgotten it or does not resume sessions, or the stream verifies no name.
/// @return `NETLIB_OK`, with a session or without; `NETLIB_INVALID_ARGUMENT` for a server's stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_take_session(
    stream: *mut netlib_tls_stream,
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

/// Sets the session that this stream resumes. Call it before the handshake. As Python's `wrap_socket(session=…)` and
/// SSL_set_session. Default: a session that the context remembers, if there is one; setting another session, or none,
/// drops it.
///
/// If the server does not accept it, the handshake is a full one: see `netlib_tls_stream_is_resumed`. A TLS 1.3 session
/// is used up once it is set, a TLS 1.2 session if the handshake fails. If this call fails, the stream is unchanged.
///
/// @param stream the stream, a client's.
/// @param session the session. May be NULL: nothing is resumed, so that nobody can tell by a session that this client
///        was there before. What the server gives is remembered all the same.
/// @param err why it cannot be resumed here.
/// @return `NETLIB_INVALID_ARGUMENT` if it was made by another context, for another server name, while other
///         application protocols were offered, is used up or too old, and if the handshake has begun, the context does
///         not resume sessions or the stream is a server's; `NETLIB_BUSY` if another stream runs inside this one; the
///         failure of the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_set_session(
    stream: *mut netlib_tls_stream,
    session: *const netlib_tls_session,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = arg!(stream);
        stream.set_session(arg_shared_opt!(session).as_ref())
    })
}

/// The same for an engine: see `netlib_tls_stream_take_session`.
///
/// @param engine the engine, a client's.
/// @param session NULL if there is none.
/// @return `NETLIB_OK`, with a session or without; `NETLIB_INVALID_ARGUMENT` for a server's engine.
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

/// The same for an engine: see `netlib_tls_stream_set_session`. Default: one that the context remembers.
///
/// @param engine the engine, a client's.
/// @param session the session. May be NULL: nothing is resumed.
/// @param err why it cannot be resumed here.
/// @return `NETLIB_INVALID_ARGUMENT`; the failure of the session.
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

/// Returns how many sessions the context remembers that a client could resume, at most 256. As SSL_CTX_sess_number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_session_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::session_count)
}

/// Drops all sessions that the context remembers for its clients: the next connection to each server makes a full
/// handshake, which proves its identity anew. Sessions that were taken out stay. As SSL_CTX_flush_sessions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_forget_sessions(context: *const netlib_tls_context) {
    read(context, (), Context::forget_sessions);
}
