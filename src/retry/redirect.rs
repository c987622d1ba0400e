//! Follows redirects (RFC 9110 section 15.4). Only this module determines URL and method of the next request, and the
//! headers that the next request must not have.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::memory;
use crate::retry::constants::{CONTENT_HEADERS, SENSITIVE_HEADERS};
use crate::retry::name_set::{self, Case};
use crate::retry::{NameSet, RedirectProfile, Retry};
use crate::status::Status;
use crate::url::Url;

/// The state of a chain of redirects. `increment` copies the state to the next Retry, so that a dropped header stays
/// dropped, even after a redirect back to the first origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChainState {
    left_origin: bool,
    body_dropped: bool,
}

impl ChainState {
    pub(super) fn resends_body(self) -> bool {
        !self.body_dropped
    }

    pub(super) fn after(self, hop: &Hop) -> ChainState {
        ChainState {
            left_origin: self.left_origin || hop.leaves_origin,
            body_dropped: self.body_dropped || hop.drops_body,
        }
    }
}

/// The request that follows a redirect.
#[derive(Debug)]
pub(super) struct Hop {
    pub(super) url: Url,
    pub(super) method: CString,
    leaves_origin: bool,
    drops_body: bool,
}

/// Returns the request to send after a redirect with `status` and `location` in response to a request with `method` and
/// `url`.
pub(super) fn follow(
    profile: RedirectProfile,
    method: &CStr,
    url: &Url,
    status: u16,
    location: &CStr,
) -> Result<Hop> {
    let location = with_fragment(location.to_bytes(), url)?;
    let next = url.resolve(location.as_ref()).map_err(|error| error.prefixed("Location"))?;
    // The host can be empty, as in "http://:80/".
    if next.host().is_none_or(CStr::is_empty) && url.host().is_some() {
        return Err(Error::new(Status::InvalidUrl, "Location: the URL has no host"));
    }
    // The caller may later parse the text of the resolved URL, and find a different host: for "a.b://c/" the host a.b,
    // because the parser takes a scheme with a dot for a host.
    if !Url::parse(next.url()?.to_bytes()).is_ok_and(|reread| reread.same_origin(&next)) {
        return Err(Error::new(
            Status::InvalidUrl,
            "Location: the resolved URL would have another host if it were parsed again",
        ));
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
        method: name_set::copy(if becomes_get && !is(b"HEAD") { c"GET" } else { method })?,
        drops_body: becomes_get,
    })
}

/// Adds the request's fragment to a Location without a fragment (RFC 9110 section 10.2.2). A Location that ends with
/// "#" has a fragment, which is empty.
fn with_fragment<'a>(location: &'a [u8], url: &Url) -> Result<Cow<'a, [u8]>> {
    match url.fragment() {
        Some(fragment) if !location.contains(&b'#') => {
            let mut text = Vec::new();
            memory::reserve(&mut text, location.len() + 1 + fragment.count_bytes(), "a location")?;
            text.extend_from_slice(location);
            text.push(b'#');
            text.extend_from_slice(fragment.to_bytes());
            Ok(text.into())
        }
        _ => Ok(location.into()),
    }
}

fn check_safe(from: &Url, to: &Url) -> Result<()> {
    let refuse = |why: &str| Err(Error::new(Status::UnsafeRedirect, why));
    match (from.scheme().map(CStr::to_bytes), to.scheme().map(CStr::to_bytes)) {
        (Some(b"https"), Some(b"http")) => refuse("a redirect from https to http is refused"),
        // A missing scheme means http, as in `same_origin`. The scheme is missing only if the request URL has none.
        (_, Some(b"http" | b"https") | None) => Ok(()),
        _ => refuse("a redirect to a scheme other than http and https is refused"),
    }
}

impl Retry {
    /// Returns the headers that the next request must not have. `hop` is the redirect that leads to the next request;
    /// `None` without a redirect.
    pub(super) fn headers_to_drop(&self, hop: Option<&Hop>) -> Result<DroppedHeaders> {
        static CONTENT: OnceBox<NameSet> = OnceBox::new();
        static HOST: OnceBox<NameSet> = OnceBox::new();
        let safe = self.policy.redirect_profile == RedirectProfile::Safe;
        let mut named = NameSet::empty(Case::Lower);
        if self.chain.body_dropped {
            named.add(constant(&CONTENT, CONTENT_HEADERS))?;
        }
        if self.chain.left_origin && safe {
            named.add(sensitive_headers())?;
        }
        if hop.is_some_and(|hop| hop.leaves_origin) && safe {
            // The Host header of the last request names the server that redirected it.
            named.add(constant(&HOST, &[c"Host"]))?;
        }
        let mut all_but = None;
        if self.chain.left_origin {
            named.add(&self.policy.remove_headers_on_redirect)?;
            all_but = self.policy.keep_headers_on_redirect.clone();
        }
        Ok(DroppedHeaders { named, all_but })
    }
}

/// Returns a set of constant names, made on first use. The cell has no lock, because fork(2) could copy a taken lock
/// into the child, where no thread would release it.
fn constant<'a>(cell: &'a OnceBox<NameSet>, names: &[&'static CStr]) -> &'a NameSet {
    cell.get_or_init(|| Box::new(NameSet::of_constants(Case::Lower, names)))
}

/// Returns `SENSITIVE_HEADERS` as a set.
pub(super) fn sensitive_headers() -> &'static NameSet {
    static SENSITIVE: OnceBox<NameSet> = OnceBox::new();
    constant(&SENSITIVE, SENSITIVE_HEADERS)
}

/// The headers that the next request must not have, although the current request has them.
#[derive(Clone, Debug)]
pub struct DroppedHeaders {
    named: NameSet,
    all_but: Option<Arc<NameSet>>,
}

impl DroppedHeaders {
    /// Returns the names of the headers to drop. If the policy has a list of headers to keep, a redirect to another
    /// origin also drops all headers outside that list, but the returned set does not contain their names.
    pub fn named(&self) -> &NameSet {
        &self.named
    }

    pub fn contains(&self, name: &[u8]) -> bool {
        self.named.contains(name) || self.all_but.as_ref().is_some_and(|kept| !kept.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::{Headers, HeadersBuilder};
    use crate::response::Response;
    use crate::retry::{Action, Attempt, Decision, RetryOptions};
    use std::sync::Arc;

    const SAFE: RedirectProfile = RedirectProfile::Safe;
    const REFERENCE: RedirectProfile = RedirectProfile::Reference;

    fn policy(profile: RedirectProfile) -> Arc<Retry> {
        let mut options = RetryOptions::default();
        options.set_redirect_profile(profile);
        options.set_status_forcelist(&[503]).unwrap();
        Arc::new(Retry::new(options))
    }

    fn answer(status: u16, location: Option<&str>) -> Response {
        let mut headers = HeadersBuilder::new();
        if let Some(location) = location {
            headers.add(b"location", location.as_bytes()).unwrap();
        }
        Response::new("GET", status, Arc::new(headers.build())).unwrap()
    }

    fn decide(retry: &Arc<Retry>, method: &CStr, url: &str, response: &Response) -> Result<Decision> {
        let url = &Url::parse(url.as_bytes()).unwrap();
        retry.decide(Attempt { method, url, response: Some(response), error: None }, None)
    }

    fn headers(names: &[&str]) -> Headers {
        let mut headers = HeadersBuilder::new();
        for name in names {
            headers.add(name.as_bytes(), b"secret").unwrap();
        }
        headers.build()
    }

    fn names(headers: &Headers) -> Vec<&str> {
        headers.iter().map(|(name, _)| name.to_str().unwrap()).collect()
    }

    #[test]
    fn profile_and_status_determine_the_method_and_body_after_a_redirect() {
        for (profile, status, method, next, body) in [
            (REFERENCE, 301, c"POST", c"POST", true),
            (REFERENCE, 302, c"POST", c"POST", true),
            (REFERENCE, 303, c"POST", c"GET", false),
            (REFERENCE, 303, c"GET", c"GET", false),
            (REFERENCE, 303, c"HEAD", c"HEAD", false),
            (REFERENCE, 303, c"head", c"head", false),
            (REFERENCE, 303, c"DELETE", c"GET", false),
            (REFERENCE, 307, c"POST", c"POST", true),
            (REFERENCE, 308, c"PUT", c"PUT", true),
            (SAFE, 301, c"POST", c"GET", false),
            (SAFE, 302, c"POST", c"GET", false),
            (SAFE, 302, c"PUT", c"PUT", true),
            (SAFE, 301, c"HEAD", c"HEAD", true),
            (SAFE, 303, c"PUT", c"GET", false),
            (SAFE, 307, c"POST", c"POST", true),
        ] {
            let decision = decide(&policy(profile), method, "http://a/", &answer(status, Some("/b"))).unwrap();
            assert_eq!(decision.action(), Action::Redirect);
            assert_eq!((decision.method(), decision.resend_body()), (next, body), "{status} to {method:?}");
            assert_eq!(decision.dropped_headers().contains(b"Content-Length"), !body);
        }
    }

    #[test]
    fn a_redirect_to_another_origin_drops_the_authorization_header() {
        for (from, location, leaves) in [
            ("http://a/", "/x", false),
            ("http://a/", "http://A:80/x", false),
            ("http://a/", "//a/x", false),
            ("https://a/", "https://a:443/", false),
            ("http://a/", "http://a:8080/", true),
            ("http://a:8080/", "http://a/", true),
            ("http://a/", "https://a/", true),
            ("http://a:443/", "https://a:443/", true),
            ("http://a/", "http://x.a/", true),
            ("http://x.a/", "http://a/", true),
            ("http://a/", "//b/", true),
            ("http://a/", "http://a.b/", true),
        ] {
            let request = headers(&["authorization", "AUTHORIZATION", "Authorization", "Accept", "Host"]);
            for profile in [REFERENCE, SAFE] {
                let decision = decide(&policy(profile), c"GET", from, &answer(302, Some(location))).unwrap();
                let kept = decision.headers(&request).unwrap();
                let expected: &[&str] = match (leaves, profile) {
                    (true, REFERENCE) => &["Accept", "Host"],
                    (true, SAFE) => &["Accept"],
                    (false, _) => &["authorization", "AUTHORIZATION", "Authorization", "Accept", "Host"],
                };
                assert_eq!(names(&kept), expected, "{from} to {location}");
            }
        }
    }

    #[test]
    fn headers_dropped_by_a_redirect_stay_dropped_in_the_rest_of_the_chain() {
        let request = headers(&["Authorization", "Content-Type", "Accept"]);
        // Each call of `step` passes all headers of the first request to `Decision::headers`.
        let step = |retry: &Arc<Retry>, method, url: &str, response: &Response| {
            let decision = decide(retry, method, url, response).unwrap();
            let kept = names(&decision.headers(&request).unwrap()).join(" ");
            (Arc::clone(decision.retry()), kept, decision.resend_body())
        };
        let first = policy(REFERENCE);
        let (retry, kept, body) = step(&first, c"POST", "http://a/", &answer(307, Some("/same")));
        assert_eq!((kept.as_str(), body), ("Authorization Content-Type Accept", true));
        let (retry, kept, body) = step(&retry, c"POST", "http://a/same", &answer(303, Some("http://b/")));
        assert_eq!((kept.as_str(), body), ("Accept", false));
        let (retry, kept, body) = step(&retry, c"GET", "http://b/", &answer(302, Some("/again")));
        assert_eq!((kept.as_str(), body), ("Accept", false));
        let (retry, kept, body) = step(&retry, c"GET", "http://b/again", &answer(503, None));
        assert_eq!((kept.as_str(), body), ("Accept", false));
        let (retry, kept, _) = step(&retry, c"GET", "http://b/again", &answer(302, Some("http://a/")));
        assert_eq!(kept, "Accept", "back at the first origin");
        // Changing the policy during a chain of redirects keeps the state of the chain.
        let varied = Arc::new(Retry::new(retry.to_options()));
        let (_, kept, _) = step(&varied, c"GET", "http://a/", &answer(302, Some("/")));
        assert_eq!(kept, "Accept");
    }

    #[test]
    fn the_safe_profile_sends_no_sensitive_header_to_another_origin() {
        let request: Vec<String> =
            SENSITIVE_HEADERS.iter().map(|name| name.to_str().unwrap().to_ascii_uppercase()).collect();
        let request = headers(&request.iter().map(String::as_str).collect::<Vec<_>>());
        let response = answer(302, Some("http://b/"));
        let decision = decide(&policy(SAFE), c"GET", "http://a/", &response).unwrap();
        assert!(decision.headers(&request).unwrap().is_empty());
        let mut options = RetryOptions::default();
        options.add_sensitive_headers().unwrap();
        let decision = decide(&Arc::new(Retry::new(options)), c"GET", "http://a/", &response).unwrap();
        assert!(decision.headers(&request).unwrap().is_empty());
        let decision = decide(&policy(REFERENCE), c"GET", "http://a/", &response).unwrap();
        assert_eq!(decision.headers(&request).unwrap().len() + 1, request.len());
    }

    #[test]
    fn a_location_without_a_fragment_inherits_the_request_fragment() {
        for (from, location, expected) in [
            ("http://a/x#f", "/y", "http://a/y#f"),
            ("http://a/x#f", "http://b/", "http://b/#f"),
            ("http://a/x#f", "http://b", "http://b#f"),
            ("http://a/x?q#f", "?r", "http://a/x?r#f"),
            ("http://a/x#f", "/y#g", "http://a/y#g"),
            ("http://a/x#f", "/y#", "http://a/y#"),
            ("http://a/x#f", "#", "http://a/x#"),
            ("http://a/x#", "/y", "http://a/y#"),
            ("http://a/x", "/y", "http://a/y"),
            ("http://a/x#%C3%A9%23", "/y%zz", "http://a/y%25zz#%C3%A9%23"),
            ("ftp://a/x#\u{e9} %", "http://b/", "http://b/#%C3%A9%20%25"),
        ] {
            let decision = decide(&policy(REFERENCE), c"GET", from, &answer(302, Some(location))).unwrap();
            assert_eq!(decision.url().url().unwrap().to_str(), Ok(expected), "{from} to {location}");
            let mut target = expected.split('#').next().unwrap().splitn(4, '/').nth(3).unwrap_or("").to_owned();
            target.insert(0, '/');
            assert_eq!(
                decision.url().composite(crate::url::Composite::RequestUri).unwrap(),
                Some((target + "\0").as_bytes())
            );
        }
        // Every redirect of a chain inherits the fragment, which is never part of the request target.
        let first = decide(&policy(SAFE), c"GET", "http://a/#f", &answer(302, Some("/b"))).unwrap();
        let url = first.url().url().unwrap().to_str().unwrap();
        let second = decide(first.retry(), c"GET", url, &answer(302, Some("https://c/"))).unwrap();
        assert_eq!(second.url().url().unwrap(), c"https://c/#f");
    }

    #[test]
    fn unsafe_redirects_and_redirects_without_a_host_are_refused() {
        for (profile, from, location, expected) in [
            (SAFE, "https://a/", "http://a/", Status::UnsafeRedirect),
            (SAFE, "https://a/", "ftp://a/", Status::UnsafeRedirect),
            (SAFE, "http://a/", "file:///etc/passwd", Status::InvalidUrl),
            (SAFE, "http://a/", "gopher://a/", Status::UnsafeRedirect),
            (SAFE, "http://a/", "https://a/", Status::Ok),
            (SAFE, "http://a/", "http://b/", Status::Ok),
            (SAFE, "a/x", "/y", Status::Ok),
            (SAFE, "a/x", "//b/y", Status::Ok),
            (REFERENCE, "https://a/", "http://a/", Status::Ok),
            (REFERENCE, "https://a/", "ftp://a/", Status::Ok),
            (REFERENCE, "http://a/", "http://[::1/", Status::InvalidUrl),
            (REFERENCE, "http://a/", "mailto:x", Status::InvalidUrl),
            (REFERENCE, "http://a/", "http://:80/", Status::InvalidUrl),
            (REFERENCE, "http://a/", "//@/x", Status::InvalidUrl),
            (REFERENCE, "http://a/", "a.b://c/", Status::InvalidUrl),
            (REFERENCE, "a/x", "//mailto:x@b/", Status::Ok),
        ] {
            let decision = decide(&policy(profile), c"GET", from, &answer(302, Some(location)));
            let status = decision.map_or_else(|error| error.status(), |_| Status::Ok);
            assert_eq!(status, expected, "{from} to {location}");
        }
        // A redirect from https to http is refused at any position in a chain.
        let first = decide(&policy(SAFE), c"GET", "http://a/", &answer(302, Some("https://a/"))).unwrap();
        let second = decide(first.retry(), c"GET", "https://a/", &answer(302, Some("http://a/")));
        assert_eq!(second.unwrap_err().status(), Status::UnsafeRedirect);
    }

    #[test]
    fn a_302_response_with_an_empty_or_missing_location_is_returned() {
        for location in [None, Some("")] {
            let decision = decide(&policy(REFERENCE), c"GET", "http://a/", &answer(302, location)).unwrap();
            assert_eq!(decision.action(), Action::ReturnResponse);
        }
    }
}
