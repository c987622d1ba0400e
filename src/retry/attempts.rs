//! The attempts of one request: the first one, and the retries and redirects on which [`Retry::decide`] decides.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::headers::Headers;
use crate::limit::Limit;
use crate::name_set;
use crate::request::{Request, TargetForm};
use crate::response::Response;
use crate::retry::{Action, Attempt, Decision, Retry};
use crate::status::Status;
use crate::url::Url;

/// The attempts of a request: the present one, and the policy that decides whether another one follows.
#[derive(Debug)]
pub struct Attempts {
    retry: Arc<Retry>,
    /// The Retry of the first attempt.
    first_retry: Arc<Retry>,
    redirects: usize,
    method: CString,
    url: Url,
    headers: Arc<Headers>,
    sends_body: bool,
    limit: Option<Arc<Limit>>,
    decision: Option<Arc<Decision>>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The present attempt has no outcome yet.
    Open,
    /// A response is the result of the request. Reading its body may still fail.
    Answered,
    /// The request has ended with an error.
    Failed,
}

impl Attempts {
    /// Starts with the first attempt. `limit` bounds the waits between the attempts.
    pub fn new(
        retry: Arc<Retry>,
        method: &CStr,
        url: Url,
        headers: Option<Arc<Headers>>,
        has_body: bool,
        limit: Option<Arc<Limit>>,
    ) -> Result<Attempts> {
        name_set::check_token("method", method)?;
        Ok(Attempts {
            first_retry: Arc::clone(&retry),
            redirects: 0,
            retry,
            method: name_set::copy(method)?,
            url,
            headers: headers.unwrap_or_default(),
            sends_body: has_body,
            limit,
            decision: None,
            state: State::Open,
        })
    }

    pub fn method(&self) -> &CStr {
        &self.method
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn headers(&self) -> &Arc<Headers> {
        &self.headers
    }

    /// Returns whether the present attempt has a body: a redirect can drop the body.
    pub fn sends_body(&self) -> bool {
        self.sends_body
    }

    /// Returns the head of the present attempt's request.
    pub fn request(&self, form: TargetForm) -> Result<Request> {
        // A token is ASCII.
        Request::new(self.method.to_str().unwrap_or(""), &self.url, &self.headers, form)
    }

    pub fn limit(&self) -> Option<&Arc<Limit>> {
        self.limit.as_ref()
    }

    /// Returns the last decision; `None` before the first one, and after a decision that failed.
    pub fn decision(&self) -> Option<&Arc<Decision>> {
        self.decision.as_ref()
    }

    /// Sets or removes a header of the present attempt and of those that follow.
    pub fn set_header(&mut self, name: &CStr, value: Option<&CStr>) -> Result<()> {
        self.headers = Arc::new(self.headers.with(name.to_bytes(), value.map(CStr::to_bytes))?);
        Ok(())
    }

    /// Counts failures from the start again, because the request has made progress.
    pub fn reset_failures(&mut self) {
        self.retry = Arc::new(self.retry.with_failures_of(&self.first_retry, self.redirects));
    }

    /// Takes the outcome of the present attempt. Returns `SendAgain` when the next attempt has become the present one,
    /// and `Ok` if `response` is the result of the request.
    pub fn decide(&mut self, response: Option<&Response>, error: Option<&Arc<Error>>) -> Result<Status> {
        match (self.state, response, error) {
            (State::Open, None, None) => {
                let message = "response and error are both NULL: the attempt has no outcome";
                return Err(Error::new(Status::InvalidArgument, message));
            }
            (State::Answered | State::Failed, _, None) => {
                return Err(Error::new(Status::Closed, "the request has ended: there is no attempt to decide about"));
            }
            (State::Answered, None, Some(error)) | (State::Failed, _, Some(error)) => {
                return Err(Error::clone(error));
            }
            (State::Open | State::Answered, ..) => {}
        }
        let attempt = Attempt { method: &self.method, url: &self.url, response, error };
        let limit = self.limit.as_deref();
        let decided = if self.state == State::Answered {
            self.retry.decide_reported(attempt, limit)
        } else {
            self.retry.decide(attempt, limit)
        };
        (self.state, self.decision) = (State::Failed, None);
        let decision = Arc::new(decided?);
        self.decision = Some(Arc::clone(&decision));
        if decision.action() == Action::ReturnResponse {
            self.state = State::Answered;
            return Ok(Status::Ok);
        }
        self.redirects += usize::from(decision.action() == Action::Redirect);
        self.headers = Arc::new(decision.headers(&self.headers)?);
        self.method = name_set::copy(decision.method())?;
        self.url = decision.url().clone();
        self.retry = Arc::clone(decision.retry());
        self.sends_body &= decision.resend_body();
        self.state = State::Open;
        Ok(Status::SendAgain)
    }

    /// Does what [`Attempts::decide`] does, and waits before the next attempt.
    pub fn next(&mut self, response: Option<&Response>, error: Option<&Arc<Error>>) -> Result<Status> {
        let status = self.decide(response, error)?;
        if let (Status::SendAgain, Some(decision)) = (status, &self.decision) {
            decision.sleep(self.limit.as_deref()).inspect_err(|_| self.state = State::Failed)?;
        }
        Ok(status)
    }
}
