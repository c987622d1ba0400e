//! What holds for every policy and every chain of requests, tried with many made by a seeded generator.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::Error;
use crate::headers::{Headers, HeadersBuilder};
use crate::response::Response;
use crate::retry::constants::CONTENT_HEADERS;
use crate::retry::{
    Attempt, Count, Decision, HistoryEntry, MethodsSetting, NameSet, RedirectProfile, Retry, RetryOptions,
    SENSITIVE_HEADERS,
};
use crate::status::Status;
use crate::url::Url;

/// SplitMix64: the same numbers for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// The same letters in random cases.
    fn cased(&mut self, text: &str) -> String {
        let case = |c: char| if self.one_in(2) { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        text.chars().map(case).collect()
    }
}

fn headers_of<S: AsRef<str>>(names: &[S]) -> Headers {
    let mut headers = HeadersBuilder::new();
    for name in names {
        headers.add(name.as_ref().as_bytes(), b"secret").unwrap();
    }
    headers.build()
}

fn names_of(headers: &Headers) -> Vec<String> {
    headers.iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
}

fn answer(status: u16, location: Option<&str>) -> Response {
    let mut headers = HeadersBuilder::new();
    if let Some(location) = location {
        headers.add(b"Location", location.as_bytes()).unwrap();
    }
    Response::new("GET", status, Arc::new(headers.build())).unwrap()
}

/// All that can be asked of a Retry, in words.
fn everything(retry: &Retry) -> String {
    fn listed(names: Option<&NameSet>) -> Option<Vec<&CStr>> {
        names.map(|names| names.iter().collect())
    }
    let history: Vec<_> = retry
        .history()
        .iter()
        .map(|e| {
            let error = e.error().map(|error| (error.status(), error.message().to_owned(), error.causes().len()));
            (e.method(), e.url(), error, e.status(), e.redirect_location())
        })
        .collect();
    format!(
        "{:?} {:?} {:?} {:?} {} {} {} {} {:?} {:?} {:?} {:?} {:?} {}",
        retry.counts(),
        listed(retry.methods().listed()),
        retry.status_forcelist(),
        retry.backoff(),
        retry.retry_after_max(),
        retry.raise_on_redirect(),
        retry.raise_on_status(),
        retry.respect_retry_after_header(),
        listed(Some(retry.remove_headers_on_redirect())),
        listed(retry.keep_headers_on_redirect()),
        retry.redirect_profile(),
        retry.chain,
        history,
        retry.is_exhausted(),
    )
}

fn random_retry(dice: &mut Dice) -> Retry {
    let counts = [Count::None, Count::None, Count::None, Count::Number(0), Count::Number(2), Count::Number(7)];
    let any_count = [&counts[..], &[Count::False]].concat();
    let mut o = RetryOptions::default();
    o.set_total(dice.of(&any_count));
    o.set_connect(dice.of(&any_count));
    o.set_read(dice.of(&any_count));
    o.set_redirect(dice.of(&any_count));
    o.set_status(dice.of(&counts)).unwrap();
    o.set_other(dice.of(&counts)).unwrap();
    match dice.below(3) {
        0 => {}
        1 => o.allow_any_method().unwrap(),
        _ => o.set_allowed_methods(MethodsSetting::AllowedMethods, [c"POST"]).unwrap(),
    }
    let codes: Vec<i32> = (0..dice.below(4)).map(|_| 400 + dice.below(200) as i32).collect();
    o.set_status_forcelist(&codes).unwrap();
    o.set_backoff_factor(dice.of(&[0.0, 0.1, 3.0])).unwrap();
    o.set_backoff_max(dice.of(&[0.0, 2.0, f64::INFINITY])).unwrap();
    o.set_backoff_jitter(dice.of(&[0.0, 0.5])).unwrap();
    o.set_retry_after_max(dice.of(&[1.0, f64::INFINITY])).unwrap();
    o.set_raise_on_redirect(dice.one_in(2));
    o.set_raise_on_status(dice.one_in(2));
    o.set_respect_retry_after_header(dice.one_in(2));
    if dice.one_in(2) {
        o.set_remove_headers_on_redirect([c"X-A", c"Cookie"]).unwrap();
    }
    if dice.one_in(3) {
        o.set_keep_headers_on_redirect([c"Accept"]).unwrap();
    }
    o.set_redirect_profile(dice.of(&[RedirectProfile::Reference, RedirectProfile::Safe]));
    for _ in 0..dice.below(4) {
        let location = dice.of(&[None, Some(c"/b")]);
        o.add_history(HistoryEntry::new(Some(c"GET"), None, None, dice.of(&[None, Some(500)]), location).unwrap());
    }
    Retry::new(o)
}

#[test]
fn increment_never_changes_the_original() {
    let dice = &mut Dice(1);
    let failures: Vec<Status> = Status::ALL.iter().copied().filter(|status| *status as i32 > 2).collect();
    let (mut made, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let mut retry = random_retry(dice);
        for _ in 0..6 {
            let before = everything(&retry);
            let error = dice.one_in(2).then(|| Arc::new(Error::new(dice.of(&failures), "what failed")));
            let response = dice.one_in(2).then(|| {
                let status = dice.of(&[200, 301, 302, 303, 307, 308, 429, 500, 503]);
                answer(status, dice.of(&[None, Some("/next"), Some("")]))
            });
            let method = dice.of(&[None, Some(c"GET"), Some(c"post"), Some(c"PATCH")]);
            let url = dice.of(&[None, Some(c"http://user:pw@a/"), Some(c"not a url")]);
            let outcome = retry.increment(method, url, response.as_ref(), error.as_ref());
            assert_eq!(everything(&retry), before);
            let next = match &outcome {
                Ok(next) => next,
                Err(error) => {
                    refused += 1;
                    let Some(exhausted) = error.retry() else { continue };
                    exhausted
                }
            };
            assert_eq!(next.history().len(), retry.history().len() + 1);
            for (old, new) in retry.history().iter().zip(next.history().iter()) {
                assert!(std::ptr::eq(old, new), "entries are shared");
            }
            let last = next.history().last().unwrap();
            assert_eq!((last.method(), last.url()), (method, url));
            let used = |(old, new): (Count, Count)| old != new;
            let pairs = retry.counts().all().into_iter().zip(next.counts().all());
            assert!(pairs.filter(|pair| used(*pair)).count() <= 2);
            if let Ok(next) = outcome {
                made += 1;
                // What is made of it later does not reach back either.
                let after = everything(&next);
                let _ = Retry::new(next.to_options()).increment(Some(c"GET"), None, None, None);
                assert_eq!((everything(&retry), everything(&next)), (before, after));
                retry = next;
            }
        }
    }
    assert!(made > 2_000 && refused > 2_000, "{made} {refused}");
}

/// A server by what distinguishes it: scheme, host and port. The hosts' other spellings are names of the same one.
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
    // A name of its own, whatever a resolver makes of it.
    origin("http", &["a.test."], 80),
    origin("https", &["a.test."], 443),
];

impl Origin {
    /// The root of the origin, spelt in one of its ways.
    fn spelt(&self, dice: &mut Dice) -> String {
        let default = if self.scheme == "http" { 80 } else { 443 };
        let port = match (self.port == default, dice.below(3)) {
            (true, 0 | 1) => dice.of(&["", ":"]).to_owned(),
            _ => format!(":{}{}", dice.of(&["", "", "0"]), self.port),
        };
        let user = dice.of(&["", "", "me@", "user:p%40ss@", "a.test:80@"]);
        let host = dice.of(self.hosts);
        format!("{}://{user}{}{port}", dice.cased(self.scheme), dice.cased(host))
    }
}

/// What a chain has been through, kept beside netlib's own account of it.
#[derive(Default)]
struct Model {
    left: bool,
    body_dropped: bool,
}

/// A policy and what it says must not go to another origin.
struct Rules {
    safe: bool,
    removed: Vec<String>,
    kept: Option<Vec<String>>,
    retry: Arc<Retry>,
}

impl Rules {
    fn random(dice: &mut Dice) -> Rules {
        let mut o = RetryOptions::default();
        o.set_total(Count::None);
        o.set_status_forcelist(&[503]).unwrap();
        o.allow_any_method().unwrap();
        let mut removed: Vec<String> = vec!["authorization".into()];
        let usual = || SENSITIVE_HEADERS.iter().map(|name| name.to_str().unwrap().to_ascii_lowercase());
        match dice.below(4) {
            0 => {
                let names = [dice.cased("x-mine"), dice.cased("cookie")];
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
        let safe = dice.one_in(2);
        if safe {
            o.set_redirect_profile(RedirectProfile::Safe);
            removed.extend(usual());
        }
        let kept = dice.one_in(4).then(|| vec!["accept".to_owned(), "x-mine".to_owned(), "authorization".to_owned()]);
        if let Some(kept) = &kept {
            let cased: Vec<CString> = kept.iter().map(|name| CString::new(dice.cased(name)).unwrap()).collect();
            o.set_keep_headers_on_redirect(cased.iter().map(CString::as_c_str)).unwrap();
        }
        Rules { safe, removed, kept, retry: Arc::new(Retry::new(o)) }
    }

    fn may_go(&self, model: &Model, leaves_now: bool, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let describes_body =
            CONTENT_HEADERS.iter().any(|content| content.to_bytes().eq_ignore_ascii_case(name.as_bytes()));
        !(model.body_dropped && describes_body
            || model.left && self.removed.contains(&name)
            || model.left && self.kept.as_ref().is_some_and(|kept| !kept.contains(&name))
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

/// One chain; how many hops it took.
fn walk(dice: &mut Dice, rules: &Rules) -> usize {
    let mut at = dice.below(ORIGINS.len());
    let mut url = Url::parse((ORIGINS[at].spelt(dice) + "/start").as_bytes()).unwrap();
    let mut method = dice.of(&[c"GET", c"POST", c"PUT", c"HEAD", c"post"]).to_owned();
    let names: Vec<String> = REQUEST_HEADERS.iter().map(|name| dice.cased(name)).collect();
    let first = headers_of(&names);
    let mut carried = headers_of(&names);
    let mut retry = Arc::clone(&rules.retry);
    let mut model = Model::default();
    let mut trail = vec![url.url().unwrap().to_string_lossy().into_owned()];
    for hop in 0..dice.below(8) + 1 {
        let mut leaves_now = false;
        let decision = match dice.below(8) {
            0 => decide(&retry, &method, &url, &answer(503, None)).unwrap(),
            1 => {
                let error = Arc::new(Error::new(Status::NewConnection, "refused"));
                let attempt = Attempt { method: &method, url: &url, response: None, error: Some(&error) };
                retry.decide(attempt, None).unwrap()
            }
            2 => {
                // The policy is varied in the middle of the chain.
                let mut options = retry.to_options();
                options.set_backoff_factor(hop as f64).unwrap();
                retry = Arc::new(Retry::new(options));
                continue;
            }
            _ => {
                let next = if dice.one_in(3) { at } else { dice.below(ORIGINS.len()) };
                let (from, to) = (&ORIGINS[at], &ORIGINS[next]);
                let spelt = to.spelt(dice);
                let rest = spelt.split_once(':').unwrap().1;
                let location = match dice.below(4) {
                    0 if next == at => dice.of(&["/p", "p?q", "?q", "../x"]).to_owned(),
                    1 if from.scheme == to.scheme => format!("{rest}/p"),
                    _ => format!("{spelt}/p"),
                };
                let status = dice.of(&[301, 302, 303, 307, 308]);
                trail.push(format!("{status} {location}"));
                let outcome = decide(&retry, &method, &url, &answer(status, Some(&location)));
                if rules.safe && from.scheme == "https" && to.scheme == "http" {
                    assert_eq!(outcome.unwrap_err().status(), Status::UnsafeRedirect, "{trail:?}");
                    return hop;
                }
                let decision = outcome.unwrap_or_else(|error| panic!("{trail:?}: {error}"));
                leaves_now = next != at;
                model.left |= leaves_now;
                let post = method.to_bytes().eq_ignore_ascii_case(b"POST");
                model.body_dropped |= status == 303 || rules.safe && post && matches!(status, 301 | 302);
                at = next;
                decision
            }
        };
        // The caller brings what the last request had, or the first request's headers again.
        let brought = if dice.one_in(2) { &first } else { &carried };
        let sent = decision.headers(brought).unwrap();
        let expected: Vec<String> =
            names_of(brought).into_iter().filter(|name| rules.may_go(&model, leaves_now, name)).collect();
        assert_eq!(names_of(&sent), expected, "{trail:?} {method:?}");
        for name in names_of(brought) {
            let gone = !expected.contains(&name);
            assert_eq!(decision.dropped_headers().contains(name.as_bytes()), gone);
            assert!(gone || !decision.dropped_headers().named().contains(name.as_bytes()));
        }
        assert_eq!(decision.resend_body(), !model.body_dropped, "{trail:?}");
        // Another request with the same Retry, at the same time: it goes elsewhere, and changes nothing here.
        if dice.one_in(4) {
            let elsewhere = Arc::new(Url::parse(b"http://other.test/").unwrap());
            decide(decision.retry(), c"POST", &elsewhere, &answer(303, Some("https://third.test/"))).unwrap();
        }
        carried = sent;
        method = decision.method().to_owned();
        url = decision.url().clone();
        retry = Arc::clone(decision.retry());
    }
    // The Retry that the chain began with has served another request and knows nothing of it.
    let start = Arc::new(Url::parse(b"http://a.test/").unwrap());
    let fresh = decide(&rules.retry, c"PUT", &start, &answer(307, Some("/again"))).unwrap();
    assert!(fresh.resend_body());
    assert_eq!(names_of(&fresh.headers(&first).unwrap()), names, "{trail:?}");
    trail.len()
}

#[test]
fn ten_thousand_chains_leak_nothing_to_another_origin() {
    let dice = &mut Dice(2);
    let mut hops = 0;
    for _ in 0..10_000 {
        let rules = Rules::random(dice);
        hops += walk(dice, &rules);
    }
    assert!(hops > 30_000, "{hops}");
}

#[test]
fn r3_any_change_of_scheme_host_or_port_strips() {
    let dice = &mut Dice(3);
    let schemes = ["http", "https"];
    let hosts = ["a.test", "x.a.test", "b.test", "127.0.0.1", "[::1]", "[::2]"];
    let ports = [80, 443, 8080, 1, 65_535];
    let request = headers_of(&["AUTHORIZATION", "cookie", "X-api-KEY", "Accept"]);
    let mut kinds = [0; 8];
    for _ in 0..20_000 {
        let profile = dice.of(&[RedirectProfile::Reference, RedirectProfile::Safe]);
        let mut options = RetryOptions::default();
        options.set_redirect_profile(profile);
        options.add_sensitive_headers().unwrap();
        let from = (dice.of(&schemes), dice.of(&hosts), dice.of(&ports));
        // Half of the time one part changes alone: the same port from http to https is one of these.
        let mut to = (dice.of(&schemes), dice.of(&hosts), dice.of(&ports));
        match dice.below(6) {
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

/// The sources without their tests and comments.
fn sources() -> Vec<(String, String)> {
    fn read(directory: &std::path::Path, into: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
                let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
                into.push((path.to_string_lossy().into_owned(), code.join("\n")));
            }
        }
    }
    let mut files = Vec::new();
    read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50);
    files.retain(|(path, _)| !path.ends_with("properties.rs") && !path.ends_with("vectors.rs"));
    files
}

#[test]
fn r2_one_place_makes_the_headers_of_the_next_hop() {
    let users = |what: &str| -> Vec<String> {
        let files = sources();
        let uses = files.iter().flat_map(|(path, code)| {
            let name = path.rsplit_once("/src/").unwrap().1.to_owned();
            std::iter::repeat_n(name, code.matches(what).count())
        });
        let mut uses: Vec<String> = uses.collect();
        uses.sort();
        uses
    };
    // Where headers are left out, and who asks for that.
    assert_eq!(users(".without("), ["retry/decide.rs"]);
    assert_eq!(
        users("headers_to_drop("),
        ["retry/decide.rs", "retry/decide.rs", "retry/decide.rs", "retry/redirect.rs"]
    );
    // Where a redirect is followed, and where a chain is told of it.
    assert_eq!(users("redirect::follow("), ["retry/decide.rs"]);
    assert_eq!(users("chain.after("), ["retry/decide.rs"]);
    assert_eq!(users("resolve(location"), ["retry/redirect.rs"]);
}

/// The two ways to drop headers, from the list of names and through the decision, drop the same.
#[test]
fn r2_both_ways_to_drop_headers_are_equal() {
    let dice = &mut Dice(4);
    let all: Vec<String> = [SENSITIVE_HEADERS, CONTENT_HEADERS]
        .concat()
        .iter()
        .map(|name| name.to_str().unwrap().to_owned())
        .chain(["Host", "Accept", "X-Mine", "x"].map(str::to_owned))
        .collect();
    for _ in 0..500 {
        let rules = Rules::random(dice);
        let url = Arc::new(Url::parse(b"http://a.test/").unwrap());
        let location = dice.of(&["/b", "http://b.test/", "https://a.test/"]);
        let response = answer(dice.of(&[301, 303, 307]), Some(location));
        let decision = decide(&rules.retry, c"POST", &url, &response).unwrap();
        let names: Vec<String> = all.iter().map(|name| dice.cased(name)).collect();
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
