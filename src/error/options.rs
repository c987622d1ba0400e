//! Options for an error that the application creates.

use std::any::Any;
use std::sync::Arc;

use super::facts::UserData;
use super::{ApiName, Error, Result};
use crate::status::{RetryKind, Status};

#[derive(Clone, Debug, Default)]
pub struct ErrorOptions {
    cause: Option<Arc<Error>>,
    retry_kind: Option<RetryKind>,
    http_status: Option<u16>,
    user_data: Option<UserData>,
}

impl ErrorOptions {
    pub fn set_cause(&mut self, cause: Option<Arc<Error>>) {
        self.cause = cause;
    }

    /// Sets the retry kind of the error to the kind with this number. `ByCause` is refused, because `ByCause` is not a
    /// kind of its own but stands for the kind of the cause.
    pub fn set_retry_kind(&mut self, code: i32) -> Result<()> {
        match RetryKind::from_code(code) {
            Some(kind) if kind != RetryKind::ByCause => {
                self.retry_kind = Some(kind);
                Ok(())
            }
            _ => Err(Error::naming(
                Status::InvalidArgument,
                "kind must be a ",
                ApiName::RetryKind,
                &format!(" other than BY_CAUSE; it is {code}"),
            )),
        }
    }

    /// Sets the status code of the response that caused the error; 0 means that no response caused the error.
    pub fn set_http_status(&mut self, code: i32) -> Result<()> {
        self.http_status = match code {
            0 => None,
            100..=999 => u16::try_from(code).ok(),
            _ => {
                let message = format!("http_status must be 100 to 999, or 0; it is {code}");
                return Err(Error::new(Status::InvalidArgument, message));
            }
        };
        Ok(())
    }

    /// Attaches a value of the application to the error. The value is dropped when no options and no error hold it.
    /// Returns the previous value.
    pub fn set_user_data<T: Any + Send + Sync>(&mut self, data: T) -> Option<Arc<dyn Any + Send + Sync>> {
        self.user_data.replace(Arc::new(data))
    }

    /// Applies the options to an error. The chosen retry kind takes precedence over the retry kind of the cause.
    pub(super) fn apply(&self, mut error: Error) -> Error {
        if let Some(cause) = &self.cause {
            error = error.with_cause(Arc::clone(cause));
        }
        if let Some(kind) = self.retry_kind {
            error = error.with_retry_kind(kind);
        }
        if self.user_data.is_some() {
            error.facts_mut().user_data.clone_from(&self.user_data);
        }
        error.with_http_status(self.http_status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_retry_kind_takes_precedence_over_that_of_the_cause() {
        let sent = Arc::new(Error::new(Status::TlsAlert, "x").after_request_was_sent());
        let mut options = ErrorOptions::default();
        options.set_cause(Some(sent));
        let kind =
            |options: &ErrorOptions| Error::reported(Status::ProxyFailed as i32, "y", options).unwrap().retry_kind();
        assert_eq!(kind(&options), RetryKind::Read);
        for code in 0..4 {
            options.set_retry_kind(code).unwrap();
            assert_eq!(kind(&options) as i32, code);
        }
        for code in [-1, RetryKind::ByCause as i32, 5, i32::MIN, i32::MAX] {
            let error = options.set_retry_kind(code).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument);
            assert!(error.message().ends_with(&format!("; it is {code}")));
        }
    }
}
