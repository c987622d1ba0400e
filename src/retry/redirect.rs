//! Following a redirect: RFC 9110 section 15.4. The one place that says where the next request goes, how, and which
//! headers it must not carry.

use std::ffi::{CStr, CString};

use crate::error::{Error, Result};
use crate::retry::constants::{CONTENT_HEADERS, SENSITIVE_HEADERS};
use crate::retry::{NameSet, RedirectProfile, Retry, names};
use crate::status::Status;
use crate::url::Url;

/// What a chain of requests has gone through. It is part of the Retry that is handed on, so that a header dropped
/// once stays dropped, whatever headers the caller brings later: on the way back to the first origin, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    left_origin: bool,
    body_dropped: bool,
}

impl Chain {
    pub(super) fn resends_body(self) -> bool {
        !self.body_dropped
    }

    pub(super) fn after(self, hop: &Hop) -> Chain {
        Chain {
            left_origin: self.left_origin || hop.leaves_origin,
            body_dropped: self.body_dropped || hop.drops_body,
        }
    }
}

/// The next request of a redirect.
#[derive(Debug)]
pub(super) struct Hop {
    pub(super) url: Url,
    pub(super) method: CString,
    leaves_origin: bool,
    drops_body: bool,
}

/// Where `location`, answered with `status` to a request of `method` for `url`, leads.
pub(super) fn follow(
    profile: RedirectProfile,
    method: &CStr,
    url: &Url,
    status: u16,
    location: &CStr,
) -> Result<Hop> {
    let next = url.resolve(location.to_bytes()).map_err(|error| error.prefixed("Location"))?;
    if next.host().is_none() && url.host().is_some() {
        return Err(Error::new(Status::InvalidUrl, "Location: the URL has no host"));
    }
    if profile == RedirectProfile::Safe {
        check_safe(url, &next)?;
    }
    let is = |name: &[u8]| method.to_bytes().eq_ignore_ascii_case(name);
    let becomes_get = match status {
        303 => true,
        301 | 302 => profile == RedirectProfile::Safe && is(b"POST"),
        _ => false,
    };
    Ok(Hop {
        leaves_origin: !url.same_origin(&next),
        url: next,
        method: if becomes_get && !is(b"HEAD") { c"GET" } else { method }.to_owned(),
        drops_body: becomes_get,
    })
}

fn check_safe(from: &Url, to: &Url) -> Result<()> {
    let refuse = |why: &str| Err(Error::new(Status::UnsafeRedirect, why));
    match (from.scheme().map(CStr::to_bytes), to.scheme().map(CStr::to_bytes)) {
        (Some(b"https"), Some(b"http")) => refuse("a redirect from https to http is refused"),
        (_, Some(b"http" | b"https")) => Ok(()),
        _ => refuse("a redirect to another scheme than http and https is refused"),
    }
}

impl Retry {
    /// The headers that the next request must not carry. `hop`: it follows a redirect.
    pub(super) fn headers_to_drop(&self, hop: Option<&Hop>) -> Result<NameSet> {
        let safe = self.policy.redirect_profile == RedirectProfile::Safe;
        let mut drop = NameSet::of_constants(names::Case::Lower, &[]);
        let mut add = |names: &[&CStr]| drop.add("header name", names.iter().copied());
        if self.chain.body_dropped {
            add(CONTENT_HEADERS)?;
        }
        if self.chain.left_origin && safe {
            add(SENSITIVE_HEADERS)?;
        }
        if hop.is_some_and(|hop| hop.leaves_origin) && safe {
            // The caller's own Host names the server that was left.
            add(&[c"Host"])?;
        }
        if self.chain.left_origin {
            drop.add("header name", self.policy.remove_headers_on_redirect.iter())?;
        }
        Ok(drop)
    }
}
