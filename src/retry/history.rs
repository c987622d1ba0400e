//! What was tried: one entry per call of `increment`.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::retry::{Count, names};
use crate::status::Status;

/// One request that was, or may be, followed by another.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    method: Option<CString>,
    url: Option<CString>,
    error: Option<Arc<Error>>,
    status: Option<u16>,
    redirect_location: Option<CString>,
}

impl HistoryEntry {
    pub fn new(
        method: Option<&CStr>,
        url: Option<&CStr>,
        error: Option<&Arc<Error>>,
        status: Option<u16>,
        redirect_location: Option<&CStr>,
    ) -> HistoryEntry {
        HistoryEntry {
            method: method.map(CStr::to_owned),
            url: url.map(CStr::to_owned),
            error: error.map(Error::without_retry),
            status,
            redirect_location: redirect_location.map(CStr::to_owned),
        }
    }

    /// As [`HistoryEntry::new`], for what a caller says: the method must be a token, the status a status code.
    pub fn checked(
        method: Option<&CStr>,
        url: Option<&CStr>,
        error: Option<&Arc<Error>>,
        status: Count,
        redirect_location: Option<&CStr>,
    ) -> Result<HistoryEntry> {
        if let Some(method) = method {
            names::check_token("method", method)?;
        }
        let status = match status {
            Count::None => None,
            Count::Number(code @ 100..=999) => u16::try_from(code).ok(),
            other => {
                let message = format!("status must be 100 to 999 or NETLIB_NONE; it is {}", other.code());
                return Err(Error::new(Status::InvalidArgument, message));
            }
        };
        Ok(HistoryEntry::new(method, url, error, status, redirect_location))
    }

    pub fn method(&self) -> Option<&CStr> {
        self.method.as_deref()
    }

    pub fn url(&self) -> Option<&CStr> {
        self.url.as_deref()
    }

    pub fn error(&self) -> Option<&Arc<Error>> {
        self.error.as_ref()
    }

    pub fn status(&self) -> Option<u16> {
        self.status
    }

    pub fn redirect_location(&self) -> Option<&CStr> {
        self.redirect_location.as_deref()
    }
}

/// How many requests failed in a row up to now: redirects end a row.
pub(super) fn consecutive_failures(history: &[Arc<HistoryEntry>]) -> usize {
    history.iter().rev().take_while(|entry| entry.redirect_location.is_none()).count()
}
