//! Replays what the reference answered: `tests/vectors/retry.txt` and `retry_after.txt`, made by `retry.py` beside them.

use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::headers::{Headers, HeadersBuilder};
use crate::response::Response;
use crate::retry::{Action, Attempt, Count, MethodsSetting, Retry, RetryOptions};
use crate::status::Status;
use crate::url::Url;

const NOW: f64 = 1_700_000_000.25;
const RANDOM: f64 = 0.375;

type Slept = Arc<Mutex<f64>>;

fn count(word: &str) -> Count {
    match word {
        "-" => Count::None,
        "F" => Count::False,
        number => Count::Number(number.parse().unwrap()),
    }
}

fn shown_count(count: Count) -> String {
    match count {
        Count::None => "-".into(),
        Count::False => "F".into(),
        Count::Number(number) => number.to_string(),
    }
}

fn text(word: &str) -> Option<CString> {
    (word != "-").then(|| CString::new(word).unwrap())
}

/// A float as Python writes it.
fn shown_float(value: f64) -> String {
    format!("{value:?}")
}

fn case(words: &[&str], slept: &Slept) -> Retry {
    let mut o = RetryOptions::default();
    o.set_total(count(words[0]));
    o.set_connect(count(words[1]));
    o.set_read(count(words[2]));
    o.set_redirect(count(words[3]));
    o.set_status(count(words[4])).unwrap();
    o.set_other(count(words[5])).unwrap();
    match words[6] {
        "*" => o.allow_any_method().unwrap(),
        list => {
            let methods: Vec<CString> = list.split(',').map(|method| CString::new(method).unwrap()).collect();
            o.set_allowed_methods(MethodsSetting::AllowedMethods, methods.iter().map(CString::as_c_str)).unwrap();
        }
    }
    if words[7] != "-" {
        let codes: Vec<i32> = words[7].split(',').map(|code| code.parse().unwrap()).collect();
        o.set_status_forcelist(&codes).unwrap();
    }
    o.set_backoff_factor(words[8].parse().unwrap()).unwrap();
    o.set_backoff_max(words[9].parse().unwrap()).unwrap();
    o.set_backoff_jitter(words[10].parse().unwrap()).unwrap();
    o.set_raise_on_redirect(words[11] == "1");
    o.set_raise_on_status(words[12] == "1");
    o.set_respect_retry_after_header(words[13] == "1");
    o.set_retry_after_max(words[14].parse().unwrap()).unwrap();
    o.set_wall_clock(Some(Arc::new(|| Ok(NOW))));
    o.set_random(Some(Arc::new(|| Ok(RANDOM))));
    let slept = Arc::clone(slept);
    o.set_sleep(Some(Arc::new(move |seconds| {
        *slept.lock().unwrap() += seconds;
        Ok(())
    })));
    Retry::new(o)
}

fn slept_for(retry: &Retry, response: Option<&Response>, slept: &Slept) -> String {
    *slept.lock().unwrap() = 0.0;
    retry.sleep(response, None).unwrap();
    shown_float(*slept.lock().unwrap())
}

fn state(retry: &Retry, slept: &Slept) -> String {
    let mut words: Vec<String> = retry.counts().all().into_iter().map(shown_count).collect();
    words.push(i32::from(retry.raise_on_redirect()).to_string());
    words.push(i32::from(retry.is_exhausted()).to_string());
    words.push(retry.history().len().to_string());
    words.push(shown_float(retry.get_backoff_time().unwrap()));
    words.push(slept_for(retry, None, slept));
    if let Some(last) = retry.history().last() {
        let text = |part: Option<&CStr>| part.map_or("-".into(), |part| part.to_str().unwrap().to_owned());
        words.push(text(last.method()));
        words.push(text(last.url()));
        words.push(if last.error().is_some() { "E" } else { "-" }.into());
        words.push(last.status().map_or("-".into(), |status| status.to_string()));
        words.push(text(last.redirect_location()));
    }
    words.join(" ")
}

fn error(name: &str) -> Arc<Error> {
    let status = |name: &str| {
        let wanted = format!("NETLIB_{name}");
        *Status::ALL.iter().find(|status| status.name().to_str() == Ok(&wanted)).unwrap()
    };
    Arc::new(match name.split_once('/') {
        None => Error::new(status(name), name),
        Some((outer, cause)) => {
            Error::new(status(outer), name).with_cause(Arc::new(Error::new(status(cause), cause)))
        }
    })
}

fn response(code: &str, location: &str, retry_after: &str) -> Response {
    let mut headers = HeadersBuilder::new();
    for (name, value) in [("Location", location), ("Retry-After", retry_after)] {
        if value != "-" {
            let value = value.replace('_', " ").replace('~', "");
            headers.add(name.as_bytes(), value.as_bytes()).unwrap();
        }
    }
    Response::new("GET", code.parse().unwrap(), Arc::new(headers.build())).unwrap()
}

#[test]
fn policies_answer_as_the_reference() {
    let slept = Slept::default();
    let mut retry = None;
    let mut outcome = None;
    let mut checked = 0;
    for (number, line) in include_str!("../../tests/vectors/retry.txt").lines().enumerate() {
        let line_number = number + 1;
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "case" => outcome = Some(Ok(case(&words[1..], &slept))),
            "event" => {
                let current: &Retry = retry.as_ref().unwrap();
                let (method, url) = (text(words[1]), text(words[2]));
                let error = (words[3] == "error").then(|| error(words[4]));
                let response = (words[3] == "response").then(|| response(words[4], words[5], words[6]));
                if let [.., is_retry, sleep] = words[..]
                    && is_retry != "-"
                {
                    let response = response.as_ref().unwrap();
                    let has_retry_after = !matches!(words[6], "-" | "~");
                    let method = method.as_deref().unwrap();
                    let answer = current.is_retry(method, response.status().into(), has_retry_after).unwrap();
                    assert_eq!(i32::from(answer).to_string(), is_retry, "is_retry in line {line_number}");
                    assert_eq!(slept_for(current, Some(response), &slept), sleep, "sleep in line {line_number}");
                }
                let next = current.increment(method.as_deref(), url.as_deref(), response.as_ref(), error.as_ref());
                if let (Err(failure), Some(error)) = (&next, &error)
                    && failure.status() != Status::MaxRetry
                {
                    assert_eq!(failure.message(), error.message(), "line {line_number}");
                }
                outcome = Some(next);
            }
            "then" => {
                let answer = match outcome.take().unwrap() {
                    Ok(next) => {
                        let answer = format!("ok {}", state(&next, &slept));
                        retry = Some(next);
                        answer
                    }
                    Err(failure) if failure.status() == Status::MaxRetry => {
                        assert!(failure.retry().unwrap().is_exhausted());
                        "max".into()
                    }
                    Err(_) => "cause".into(),
                };
                assert_eq!(format!("then {answer}"), line, "line {line_number}");
                checked += 1;
            }
            _ => assert!(line.starts_with('#')),
        }
    }
    assert!(checked > 1_000, "{checked}");
}

#[test]
fn retry_after_is_read_as_the_reference() {
    let mut options = RetryOptions::default();
    options.set_retry_after_max(f64::INFINITY).unwrap();
    options.set_wall_clock(Some(Arc::new(|| Ok(NOW))));
    let retry = Retry::new(options);
    let mut checked = 0;
    for line in include_str!("../../tests/vectors/retry_after.txt").lines().filter(|line| !line.starts_with('#')) {
        let (value, expected) = line.rsplit_once(' ').unwrap();
        let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        let answer = match retry.parse_retry_after(value.as_bytes()) {
            Ok(seconds) => shown_float(seconds),
            Err(error) => {
                assert_eq!(error.status(), Status::InvalidHeader);
                "invalid".into()
            }
        };
        assert_eq!(answer, expected, "{value:?}");
        checked += 1;
    }
    assert!(checked > 300, "{checked}");
}

/// The state of a caller that follows every decision.
struct Caller {
    retry: Arc<Retry>,
    method: CString,
    url: Url,
    headers: Headers,
    body: bool,
    slept: f64,
}

impl Caller {
    fn new(words: &[&str]) -> Caller {
        let mut headers = HeadersBuilder::new();
        for name in ["Authorization", "Content-Length", "Content-Type", "Cookie", "X-Key"] {
            headers.add(name.as_bytes(), b"v").unwrap();
        }
        Caller {
            retry: Arc::new(case(words, &Slept::default())),
            method: CString::new(words[15]).unwrap(),
            url: Url::parse(b"http://a/").unwrap(),
            headers: headers.build(),
            body: words[16] == "1",
            slept: 0.0,
        }
    }

    fn sent(&mut self) -> String {
        let mut names: Vec<String> =
            self.headers.iter().map(|(name, _)| name.to_str().unwrap().to_ascii_lowercase()).collect();
        names.sort();
        let slept = shown_float(std::mem::take(&mut self.slept));
        format!("sent {} {} {} {slept}", self.method.to_str().unwrap(), i32::from(self.body), names.join(","))
    }

    /// `None` when there is another request; otherwise how it ended.
    fn take(&mut self, words: &[&str]) -> Option<String> {
        let error = (words[0] == "error").then(|| error(words[1]));
        let response = (words[0] == "response").then(|| response(words[1], words[2], words[3]));
        let attempt =
            Attempt { method: &self.method, url: &self.url, response: response.as_ref(), error: error.as_ref() };
        let decision = match self.retry.decide(attempt, None) {
            Ok(decision) => decision,
            Err(error) if error.status() == Status::MaxRetry => return Some("end max".into()),
            Err(_) => return Some("end cause".into()),
        };
        if decision.action() == Action::ReturnResponse {
            assert!(Arc::ptr_eq(decision.retry(), &self.retry));
            return Some(format!("end response {}", response.unwrap().status()));
        }
        self.headers = decision.headers(&self.headers);
        self.body &= decision.resend_body();
        self.slept += decision.delay().seconds;
        self.method = decision.method().to_owned();
        self.url = decision.url().clone();
        self.retry = Arc::clone(decision.retry());
        None
    }
}

#[test]
fn decisions_send_what_the_reference_sends() {
    let mut caller = None;
    let mut end = None;
    let mut checked = 0;
    for (number, line) in include_str!("../../tests/vectors/decide.txt").lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[0] {
            "case" => {
                (caller, end) = (Some(Caller::new(&words[1..])), None);
                continue;
            }
            "reply" => {
                end = caller.as_mut().unwrap().take(&words[1..]);
                continue;
            }
            "sent" => end.take().unwrap_or_else(|| caller.as_mut().unwrap().sent()),
            "end" => end.take().unwrap_or_else(|| "another request".into()),
            _ => continue,
        };
        assert_eq!(answer, line, "line {}", number + 1);
        checked += 1;
    }
    assert!(checked > 1_000, "{checked}");
}
