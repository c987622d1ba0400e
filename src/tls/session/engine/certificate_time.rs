//! Determines the time for which a session verifies certificates.

use std::sync::Arc;
use std::time::SystemTime;

use rustls_pki_types::UnixTime;

use crate::callback::WallClock;
use crate::error::Result;
use crate::tls::context::Context;

/// The source of the time for certificate verification.
pub(crate) enum CertificateTime {
    /// The system's clock, or no clock because no certificate is verified.
    System,
    /// The clock callback, which [`Engine::take_pending_callback`] has not returned yet.
    NotAsked(WallClock),
    /// The clock callback is running.
    Pending,
    /// The result of the clock callback. The result is boxed to keep the enum small, because most sessions have no
    /// clock callback.
    FromCallback(Box<CallbackTime>),
}

/// The clock callback's result, and the system's time when the callback returned.
pub(crate) struct CallbackTime {
    pub(crate) time: Result<UnixTime>,
    pub(crate) at: SystemTime,
}

impl CallbackTime {
    /// Returns the callback's time in seconds, moved forward by the system time that has passed since the call.
    pub(crate) fn now(&self) -> u64 {
        let since = self.at.elapsed().map_or(0, |since| since.as_secs());
        self.time.as_ref().map_or(0, UnixTime::as_secs).saturating_add(since)
    }
}

impl CertificateTime {
    pub(crate) fn new(context: &Context, is_server: bool) -> CertificateTime {
        context.clock(is_server).map_or(CertificateTime::System, |clock| CertificateTime::NotAsked(Arc::clone(clock)))
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, CertificateTime::NotAsked(_) | CertificateTime::Pending)
    }
}
