//! Tests that a redirect to another origin drops every header that only the first origin may get.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use super::{answer, headers_of, names_of};
use crate::error::Error;
use crate::response::Response;
use crate::retry::constants::CONTENT_HEADERS;
use crate::retry::{Attempt, Count, Decision, RedirectProfile, Retry, RetryOptions, SENSITIVE_HEADERS};
use crate::status::Status;
use crate::tests::random::Random;
use crate::url::Url;

/// A server, identified by scheme, host and port. All `hosts` are spellings of the same host.
struct Origin {
    scheme: &'static str,
    hosts: &'static [&'static str],
    port: u16,
}

const fn origin(scheme: &'static str, hosts: &'static [&'static str], port: u16) -> Origin {
    Origin { scheme, hosts, port }
}

const ORIGINS: &[Origin] = &[
    origin("http", &["a.test", "%61.test", "a%2etest"], 80),
    origin("https", &["a.test", "a.tes%74"], 443),
    origin("http", &["a.test"], 443),
    origin("https", &["a.test"], 80),
    origin("http", &["a.test"], 8080),
    origin("https", &["a.test"], 8443),
    origin("http", &["x.a.test"], 80),
    origin("https", &["x.a.test"], 443),
    origin("http", &["b.test"], 80),
    origin("https", &["b.test"], 443),
    origin("http", &["ba.test"], 80),
    origin("http", &["a.test.b.test"], 80),
    origin("http", &["b\u{fc}cher.test", "xn--bcher-kva.test", "B\u{dc}CHER.test", "bu\u{308}cher.test"], 80),
    origin("http", &["127.0.0.1"], 80),
    origin("http", &["[::1]"], 80),
    // With a trailing dot, the host name is a different one, even if it resolves to the same address.
    origin("http", &["a.test."], 80),
    origin("https", &["a.test."], 443),
];

impl Origin {
    /// Returns the origin as a URL, in a random spelling.
    fn random_spelling(&self, random: &mut Random) -> String {
        let default = if self.scheme == "http" { 80 } else { 443 };
        let port = match (self.port == default, random.below(3)) {
            (true, 0 | 1) => random.pick(&["", ":"]).to_owned(),
            _ => format!(":{}{}", random.pick(&["", "", "0"]), self.port),
        };
        let user = random.pick(&["", "", "me@", "user:p%40ss@", "a.test:80@"]);
        let host = random.pick(self.hosts);
        format!("{}://{user}{}{port}", random.mix_case(self.scheme), random.mix_case(host))
    }
}

/// The expected state of a redirect chain, computed independently of netlib.
#[derive(Default)]
struct ExpectedState {
    left: bool,
    body_dropped: bool,
}

/// A random policy, and the headers that it must not send to other origins.
struct Rules {
    safe: bool,
    removed: Vec<String>,
    kept: Option<Vec<String>>,
    retry: Arc<Retry>,
}

impl Rules {
    fn random(random: &mut Random) -> Rules {
        let mut o = RetryOptions::default();
        o.set_total(Count::None);
        o.set_status_forcelist(&[503]).unwrap();
        o.allow_any_method().unwrap();
        let mut removed: Vec<String> = vec!["authorization".into()];
        let usual = || SENSITIVE_HEADERS.iter().map(|name| name.to_str().unwrap().to_ascii_lowercase());
        match random.below(4) {
            0 => {
                let names = [random.mix_case("x-mine"), random.mix_case("cookie")];
                let names = names.map(|name| CString::new(name).unwrap());
                o.set_remove_headers_on_redirect(names.iter().map(CString::as_c_str)).unwrap();
                removed = vec!["x-mine".into(), "cookie".into()];
            }
            1 => {
                o.add_sensitive_headers().unwrap();
                removed.extend(usual());
            }
            _ => {}
        }
        let safe = random.one_in(2);
        if safe {
            o.set_redirect_profile(RedirectProfile::Safe);
            removed.extend(usual());
        }
        let kept =
            random.one_in(4).then(|| vec!["accept".to_owned(), "x-mine".to_owned(), "authorization".to_owned()]);
        if let Some(kept) = &kept {
            let cased: Vec<CString> = kept.iter().map(|name| CString::new(random.mix_case(name)).unwrap()).collect();
            o.set_keep_headers_on_redirect(cased.iter().map(CString::as_c_str)).unwrap();
        }
        Rules { safe, removed, kept, retry: Arc::new(Retry::new(o)) }
    }

    fn may_be_sent(&self, state: &ExpectedState, leaves_now: bool, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let describes_body =
            CONTENT_HEADERS.iter().any(|content| content.to_bytes().eq_ignore_ascii_case(name.as_bytes()));
        !(state.body_dropped && describes_body
            || state.left && self.removed.contains(&name)
            || state.left && self.kept.as_ref().is_some_and(|kept| !kept.contains(&name))
            || leaves_now && self.safe && name == "host")
    }
}

const REQUEST_HEADERS: &[&str] = &[
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-mine",
    "accept",
    "host",
    "content-type",
    "content-length",
    "transfer-encoding",
    "expect",
];

fn decide(retry: &Arc<Retry>, method: &CStr, url: &Url, response: &Response) -> crate::error::Result<Decision> {
    retry.decide(Attempt { method, url, response: Some(response), error: None }, None)
}

/// Runs one chain of requests and returns its length.
fn run_chain(random: &mut Random, rules: &Rules) -> usize {
    let mut at = random.below(ORIGINS.len());
    let mut url = Url::parse((ORIGINS[at].random_spelling(random) + "/start").as_bytes()).unwrap();
    let mut method = random.pick(&[c"GET", c"POST", c"PUT", c"HEAD", c"post"]).to_owned();
    let names: Vec<String> = REQUEST_HEADERS.iter().map(|name| random.mix_case(name)).collect();
    let first = headers_of(&names);
    let mut carried = headers_of(&names);
    let mut retry = Arc::clone(&rules.retry);
    let mut state = ExpectedState::default();
    let mut trail = vec![url.url().unwrap().to_string_lossy().into_owned()];
    for hop in 0..random.below(8) + 1 {
        let mut leaves_now = false;
        let decision = match random.below(8) {
            0 => decide(&retry, &method, &url, &answer(503, None)).unwrap(),
            1 => {
                let error = Arc::new(Error::new(Status::ConnectFailed, "refused"));
                let attempt = Attempt { method: &method, url: &url, response: None, error: Some(&error) };
                retry.decide(attempt, None).unwrap()
            }
            2 => {
                // The application changes the policy in the middle of the chain.
                let mut options = retry.to_options();
                options.set_backoff_factor(hop as f64).unwrap();
                retry = Arc::new(Retry::new(options));
                continue;
            }
            _ => {
                let next = if random.one_in(3) { at } else { random.below(ORIGINS.len()) };
                let (from, to) = (&ORIGINS[at], &ORIGINS[next]);
                let spelt = to.random_spelling(random);
                let rest = spelt.split_once(':').unwrap().1;
                let location = match random.below(4) {
                    0 if next == at => random.pick(&["/p", "p?q", "?q", "../x"]).to_owned(),
                    1 if from.scheme == to.scheme => format!("{rest}/p"),
                    _ => format!("{spelt}/p"),
                };
                let status = random.pick(&[301, 302, 303, 307, 308]);
                trail.push(format!("{status} {location}"));
                let outcome = decide(&retry, &method, &url, &answer(status, Some(&location)));
                if rules.safe && from.scheme == "https" && to.scheme == "http" {
                    assert_eq!(outcome.unwrap_err().status(), Status::UnsafeRedirect, "{trail:?}");
                    return hop;
                }
                let decision = outcome.unwrap_or_else(|error| panic!("{trail:?}: {error}"));
                leaves_now = next != at;
                state.left |= leaves_now;
                let post = method.to_bytes().eq_ignore_ascii_case(b"POST");
                state.body_dropped |= status == 303 || rules.safe && post && matches!(status, 301 | 302);
                at = next;
                decision
            }
        };
        // The caller passes either the headers of the previous request or the headers of the first request.
        let given = if random.one_in(2) { &first } else { &carried };
        let sent = decision.headers(given).unwrap();
        let expected: Vec<String> =
            names_of(given).into_iter().filter(|name| rules.may_be_sent(&state, leaves_now, name)).collect();
        assert_eq!(names_of(&sent), expected, "{trail:?} {method:?}");
        for name in names_of(given) {
            let gone = !expected.contains(&name);
            assert_eq!(decision.dropped_headers().contains(name.as_bytes()), gone);
            assert!(gone || !decision.dropped_headers().named().contains(name.as_bytes()));
        }
        assert_eq!(decision.resend_body(), !state.body_dropped, "{trail:?}");
        // A second request with the same Retry follows a different redirect, which must not affect this chain.
        if random.one_in(4) {
            let elsewhere = Arc::new(Url::parse(b"http://other.test/").unwrap());
            decide(decision.retry(), c"POST", &elsewhere, &answer(303, Some("https://third.test/"))).unwrap();
        }
        carried = sent;
        method = decision.method().to_owned();
        url = decision.url().clone();
        retry = Arc::clone(decision.retry());
    }
    // The chain has not changed the first Retry, so another request can start with it.
    let start = Arc::new(Url::parse(b"http://a.test/").unwrap());
    let fresh = decide(&rules.retry, c"PUT", &start, &answer(307, Some("/again"))).unwrap();
    assert!(fresh.resend_body());
    assert_eq!(names_of(&fresh.headers(&first).unwrap()), names, "{trail:?}");
    trail.len()
}

#[test]
fn random_redirect_chains_send_each_origin_only_the_allowed_headers() {
    let random = &mut Random(2);
    let mut hops = 0;
    for _ in 0..10_000 {
        let rules = Rules::random(random);
        hops += run_chain(random, &rules);
    }
    assert!(hops > 30_000, "{hops}");
}

#[test]
fn a_redirect_that_changes_scheme_host_or_port_drops_credentials() {
    let random = &mut Random(3);
    let schemes = ["http", "https"];
    let hosts = ["a.test", "x.a.test", "b.test", "127.0.0.1", "[::1]", "[::2]"];
    let ports = [80, 443, 8080, 1, 65_535];
    let request = headers_of(&["AUTHORIZATION", "cookie", "X-api-KEY", "Accept"]);
    let mut kinds = [0; 8];
    for _ in 0..20_000 {
        let profile = random.pick(&[RedirectProfile::Reference, RedirectProfile::Safe]);
        let mut options = RetryOptions::default();
        options.set_redirect_profile(profile);
        options.add_sensitive_headers().unwrap();
        let from = (random.pick(&schemes), random.pick(&hosts), random.pick(&ports));
        // In half of the cases at most one of scheme, host and port changes, for example from http to https with the
        // same port.
        let mut to = (random.pick(&schemes), random.pick(&hosts), random.pick(&ports));
        match random.below(6) {
            0 => to = (to.0, from.1, from.2),
            1 => to = (from.0, to.1, from.2),
            2 => to = (from.0, from.1, to.2),
            _ => {}
        }
        let text = |(scheme, host, port): (&str, &str, i32)| format!("{scheme}://{host}:{port}/");
        let url = Arc::new(Url::parse(text(from).as_bytes()).unwrap());
        let outcome = decide(&Arc::new(Retry::new(options)), c"GET", &url, &answer(302, Some(&text(to))));
        kinds[usize::from(from.0 != to.0) + 2 * usize::from(from.1 != to.1) + 4 * usize::from(from.2 != to.2)] += 1;
        if profile == RedirectProfile::Safe && (from.0, to.0) == ("https", "http") {
            assert_eq!(outcome.unwrap_err().status(), Status::UnsafeRedirect);
            continue;
        }
        let sent = names_of(&outcome.unwrap().headers(&request).unwrap());
        let expected: &[&str] =
            if from == to { &["AUTHORIZATION", "cookie", "X-api-KEY", "Accept"] } else { &["Accept"] };
        assert_eq!(sent, expected, "{from:?} {to:?}");
    }
    assert!(kinds.iter().all(|times| *times > 100), "{kinds:?}");
}

/// `Decision::dropped_headers` and `Decision::headers` agree on the dropped headers.
#[test]
fn dropped_headers_lists_the_headers_missing_from_the_next_request() {
    let random = &mut Random(4);
    let all: Vec<String> = [SENSITIVE_HEADERS, CONTENT_HEADERS]
        .concat()
        .iter()
        .map(|name| name.to_str().unwrap().to_owned())
        .chain(["Host", "Accept", "X-Mine", "x"].map(str::to_owned))
        .collect();
    for _ in 0..500 {
        let rules = Rules::random(random);
        let url = Arc::new(Url::parse(b"http://a.test/").unwrap());
        let location = random.pick(&["/b", "http://b.test/", "https://a.test/"]);
        let response = answer(random.pick(&[301, 303, 307]), Some(location));
        let decision = decide(&rules.retry, c"POST", &url, &response).unwrap();
        let names: Vec<String> = all.iter().map(|name| random.mix_case(name)).collect();
        let one = names_of(&decision.headers(&headers_of(&names)).unwrap());
        let other: Vec<String> =
            names.iter().filter(|name| !decision.dropped_headers().contains(name.as_bytes())).cloned().collect();
        assert_eq!(one, other);
        if rules.kept.is_none() {
            let dropped = decision.dropped_headers().named();
            let stays =
                |name: &&String| !dropped.iter().any(|gone| gone.to_bytes().eq_ignore_ascii_case(name.as_bytes()));
            assert_eq!(names.iter().filter(stays).cloned().collect::<Vec<_>>(), one);
        }
    }
}
