//! Checks the response of a proxy to CONNECT (RFC 9110 section 9.3.6).

use std::sync::Arc;

use super::Response;
use crate::error::{Advice, ApiName, Error, Result, truncated};
use crate::status::Status;

const CREDENTIALS: Advice = Advice::new("to send credentials to the proxy", ApiName::SetProxyBasicAuth);

impl Response {
    /// Checks that the response opens a tunnel: that its status is 200 to 299, whatever its headers announce.
    pub fn check_tunnel(&self) -> Result<()> {
        if self.request_method.to_bytes() != b"CONNECT" {
            let message = "the response belongs to a request with a method other than CONNECT";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        let reason = self.reason.as_deref().map(|reason| reason.to_string_lossy()).unwrap_or_default();
        let message = format!("the proxy answered CONNECT with {} {}", self.status, truncated(&reason));
        let error = Error::new(Status::ProxyFailed, message.trim_end()).with_http_status(Some(self.status));
        Err(match self.status {
            407 => error.with_advice(CREDENTIALS),
            // A later request through the proxy may succeed. The cause makes the failure a connect error for the retry
            // policy.
            500.. => {
                let cause = "the proxy did not connect to the server, so the request was not sent";
                error.with_cause(Arc::new(Error::new(Status::ConnectFailed, cause)))
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::RetryKind;

    fn check(method: &str, head: &str) -> Result<()> {
        Response::parse(method, format!("{head}\r\n\r\n").as_bytes(), &mut 0).unwrap().unwrap().0.check_tunnel()
    }

    #[test]
    fn a_2xx_response_to_connect_opens_a_tunnel_even_if_it_announces_a_body() {
        for status in 200..300 {
            check("CONNECT", &format!("HTTP/1.1 {status} x")).unwrap();
        }
        check("CONNECT", "HTTP/1.0 200\r\nContent-Length: 5\r\nContent-Length: x\r\nTransfer-Encoding: ,").unwrap();
    }

    #[test]
    fn a_response_to_connect_without_a_2xx_status_is_a_proxy_failure() {
        let rows = [
            ("HTTP/1.1 403 Forbidden", "403 Forbidden", RetryKind::Other),
            ("HTTP/1.1 407 Proxy Authentication Required", "407 Proxy Authentication Required", RetryKind::Other),
            ("HTTP/1.1 500", "500", RetryKind::Connect),
            ("HTTP/1.1 504 a\tb", "504 a\\tb", RetryKind::Connect),
            ("HTTP/1.1 999 x", "999 x", RetryKind::Connect),
            ("HTTP/1.1 199 x", "199 x", RetryKind::Other),
            ("HTTP/1.1 300 x", "300 x", RetryKind::Other),
            ("HTTP/1.1 101 x", "101 x", RetryKind::Other),
        ];
        for (head, shown, kind) in rows {
            let error = check("CONNECT", head).unwrap_err();
            assert_eq!(error.message(), format!("the proxy answered CONNECT with {shown}"));
            assert_eq!((error.status(), error.retry_kind()), (Status::ProxyFailed, kind), "{head}");
            assert_eq!(error.http_status().unwrap().to_string(), shown[..3]);
            assert_eq!(error.advice(), shown.starts_with("407").then_some(&CREDENTIALS));
        }
        let long = check("CONNECT", &format!("HTTP/1.1 403 {}", "r".repeat(1000))).unwrap_err();
        assert_eq!(long.message(), format!("the proxy answered CONNECT with 403 {}", "r".repeat(80)));
    }

    #[test]
    fn check_tunnel_refuses_a_response_to_a_method_other_than_connect() {
        for method in ["GET", "connect"] {
            assert_eq!(check(method, "HTTP/1.1 200 OK").unwrap_err().status(), Status::InvalidArgument);
        }
    }
}
