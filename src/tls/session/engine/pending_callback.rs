//! Hands out the callbacks for which the handshake waits: the server-name callback ([`super::client_hello`]) and the
//! wall clock.
//!
//! A callback may call functions of the stream for which it is called, so it must not run under the stream's lock. The
//! engine stops the handshake and returns a [`PendingCallback`]. The caller releases the lock, invokes the callback,
//! and passes the [`CallbackResult`] to the engine.

use std::time::SystemTime;

use rustls_pki_types::UnixTime;

use super::certificate_time::{CallbackTime, CertificateTime};
use super::{Engine, client_hello};
use crate::callback::WallClock;
use crate::error::Result;
use crate::tls::verify::unix_time;

pub(crate) enum PendingCallback {
    ServerName(client_hello::ServerNameCall),
    Clock(WallClock),
}

pub(crate) enum CallbackResult {
    ServerName(client_hello::ServerNameResult),
    Clock(Result<UnixTime>),
}

impl PendingCallback {
    pub(crate) fn invoke(self) -> CallbackResult {
        match self {
            PendingCallback::ServerName(call) => CallbackResult::ServerName(call.invoke()),
            PendingCallback::Clock(clock) => CallbackResult::Clock(unix_time(&clock)),
        }
    }
}

impl Engine {
    /// Returns whether the handshake cannot continue before a callback returns.
    pub(crate) fn is_waiting_for_callback(&self) -> bool {
        match &self.client_hello {
            Some(client_hello) => client_hello.is_complete(),
            None => self.certificate_time.is_missing(),
        }
    }

    /// Returns the callback for which the handshake waits; `None` if the handshake waits for no callback, or if this
    /// function has already returned the callback. The caller must pass the callback's result to
    /// [`Engine::finish_callback`].
    pub(crate) fn take_pending_callback(&mut self) -> Option<PendingCallback> {
        if self.client_hello.is_some() {
            return self.take_server_name_call().map(PendingCallback::ServerName);
        }
        match std::mem::replace(&mut self.certificate_time, CertificateTime::Pending) {
            CertificateTime::NotAsked(clock) if self.is_handshaking() => Some(PendingCallback::Clock(clock)),
            certificate_time => {
                self.certificate_time = certificate_time;
                None
            }
        }
    }

    /// Applies a callback's result. If the result ends the session, the next call on the engine returns the error.
    pub(crate) fn finish_callback(&mut self, result: CallbackResult) {
        match result {
            CallbackResult::ServerName(result) => self.apply_choice(result),
            CallbackResult::Clock(time) => {
                if let Ok(time) = &time {
                    self.drop_expired_offer(time.as_secs());
                }
                let at = SystemTime::now();
                self.certificate_time = CertificateTime::FromCallback(Box::new(CallbackTime { time, at }));
            }
        }
    }
}
