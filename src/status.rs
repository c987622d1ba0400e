//! The status table, from which the Rust enum, the C constants, the classes, names, texts, retry kinds and
//! `docs/reference/statuses.md` are generated. The number of a status never changes and is never reused.

use std::ffi::CStr;

/// The retry counter that a failure decrements when it is passed to `Retry::increment`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryKind {
    /// The failure is never retried, because a retry would fail for the same reason, for example an invalid argument,
    /// or because a limit ended the request.
    Never = 0,
    /// Decrements the `connect` counter: the request did not reach the server.
    Connect = 1,
    /// Decrements the `read` counter: the request was sent, but its effect is unknown.
    Read = 2,
    /// Decrements the `other` counter, for any other failure.
    Other = 3,
    /// The kind of the error's first cause, for failures of a proxy.
    ByCause = 4,
}

impl RetryKind {
    /// Returns the retry kind with this number; `None` if no kind has this number.
    pub const fn from_code(code: i32) -> Option<RetryKind> {
        match code {
            0 => Some(RetryKind::Never),
            1 => Some(RetryKind::Connect),
            2 => Some(RetryKind::Read),
            3 => Some(RetryKind::Other),
            4 => Some(RetryKind::ByCause),
            _ => None,
        }
    }
}

/// Classes of statuses, so that a caller can switch on a few cases. The number of a status divided by 100 is its class.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    Success = 0,
    Progress = 1,
    Argument = 2,
    State = 3,
    System = 4,
    Time = 5,
    Url = 6,
    Connect = 7,
    Tls = 8,
    Http = 9,
    Retry = 10,
    Application = 11,
}

macro_rules! statuses {
    ($($variant:ident = $code:literal $name:ident $class:ident $retry:ident $text:literal;)*) => {
        /// The result of every fallible operation.
        #[repr(i32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Status { $(#[doc = $text] $variant = $code),* }

        impl Status {
            /// All statuses, in the order of the table.
            pub const ALL: &'static [Status] = &[$(Status::$variant),*];

            const fn row(self) -> Row {
                match self { $(Status::$variant => Row {
                    name: match CStr::from_bytes_with_nul(concat!("NETLIB_", stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name, Err(_) => c"",
                    },
                    text: match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                        Ok(text) => text, Err(_) => c"",
                    },
                    class: StatusClass::$class,
                    retry: RetryKind::$retry,
                }),* }
            }

            /// Returns the status with this number; `None` if no status has this number.
            pub const fn from_code(code: i32) -> Option<Status> {
                match code { $($code => Some(Status::$variant),)* _ => None }
            }
        }
    };
}

struct Row {
    name: &'static CStr,
    text: &'static CStr,
    class: StatusClass,
    retry: RetryKind,
}

statuses! {
    Ok                  =    0 OK                  Success  Never   "success";

    WantRead            =  100 WANT_READ           Progress Never   "more input is needed: wait until the descriptor is readable and call again";
    WantWrite           =  101 WANT_WRITE          Progress Never   "output is pending: wait until the descriptor is writable and call again";
    TimedOut            =  102 TIMED_OUT           Progress Never   "the wait timed out before the event occurred";
    EndOfStream         =  103 END_OF_STREAM       Progress Never   "the stream ended cleanly";
    WantAddresses       =  104 WANT_ADDRESSES      Progress Never   "the addresses of the host are needed: supply them and call again";
    RateLimited         =  105 RATE_LIMITED        Progress Never   "the rate allows nothing at present: wait and call again";
    SendAgain           =  106 SEND_AGAIN          Progress Never   "another attempt of the request follows";

    NullArgument        =  200 NULL_ARGUMENT       Argument Never   "a pointer that must not be NULL is NULL";
    InvalidArgument     =  201 INVALID_ARGUMENT    Argument Never   "an argument's value is not allowed";
    InvalidUtf8         =  202 INVALID_UTF8        Argument Never   "text is not valid UTF-8";
    Unsupported         =  203 UNSUPPORTED         Argument Never   "the feature is not supported by netlib, by this system or by this handle";
    InvalidHeader       =  204 INVALID_HEADER      Argument Read    "a header name or value is not valid";
    InvalidPem          =  205 INVALID_PEM         Argument Never   "a certificate, a key or a CRL could not be read";
    KeyMismatch         =  206 KEY_MISMATCH        Argument Never   "the private key does not belong to the certificate";
    NoTrustAnchors      =  207 NO_TRUST_ANCHORS    Argument Never   "verification is required but no trusted certificate could be loaded";
    PasswordRequired    =  208 PASSWORD_REQUIRED   Argument Never   "the private key is encrypted and no password was given";
    WrongPassword       =  209 WRONG_PASSWORD      Argument Never   "the password for the private key is wrong";
    NoCipherSuites      =  210 NO_CIPHER_SUITES    Argument Never   "the cipher string selects no supported cipher suite";

    TimeoutStateError   =  300 TIMEOUT_STATE_ERROR State    Never   "the timeout's clock was already started, or was not started yet";
    Busy                =  301 BUSY                State    Never   "another call is using this handle";
    Closed              =  302 CLOSED              State    Never   "the handle is closed for calls of this kind, or was made by another process";
    UnrewindableBody    =  303 UNREWINDABLE_BODY   State    Never   "the body cannot be rewound, so the request cannot be sent again";
    CallbackFailed      =  304 CALLBACK_FAILED     State    Never   "a callback reported failure or returned an invalid value";
    TooMuchData         =  305 TOO_MUCH_DATA       State    Never   "the peer sends more data than allowed";

    Internal            =  400 INTERNAL            System   Never   "netlib has a bug that caused this error: please report it";
    OutOfMemory         =  401 OUT_OF_MEMORY       System   Never   "memory could not be allocated";
    // The number 403 is not reused: before lookups were queued, it was TOO_MANY_LOOKUPS.
    Io                  =  402 IO                  System   Read    "a system call failed";

    Cancelled           =  500 CANCELLED           Time     Never   "the limit was cancelled";
    DeadlineExceeded    =  501 DEADLINE_EXCEEDED   Time     Never   "the limit's deadline passed";
    ConnectTimeout      =  502 CONNECT_TIMEOUT     Time     Connect "connecting took longer than the connect timeout";
    ReadTimeout         =  503 READ_TIMEOUT        Time     Read    "nothing arrived within the read timeout";
    WriteTimeout        =  504 WRITE_TIMEOUT       Time     Read    "nothing could be sent within the write timeout";
    TooSlow             =  505 TOO_SLOW            Time     Read    "data arrived more slowly than the configured minimum throughput";
    Interrupted         =  506 INTERRUPTED         Time     Never   "a signal arrived, and the interrupt check of the limit stopped the wait";

    InvalidUrl          =  600 INVALID_URL         Url      Other   "the text is not a valid URL";

    NameResolution      =  700 NAME_RESOLUTION     Connect  Connect "the host name could not be resolved";
    ConnectFailed       =  701 CONNECT_FAILED      Connect  Connect "no connection could be made";
    ProxyFailed         =  702 PROXY_FAILED        Connect  ByCause "the proxy could not be used";
    AddressRefused      =  703 ADDRESS_REFUSED     Connect  Never   "the address policy allows no address of the host";

    CertificateVerify   =  800 CERTIFICATE_VERIFY  Tls      Other   "the peer's certificate was not accepted";
    HostnameMismatch    =  801 HOSTNAME_MISMATCH   Tls      Other   "the peer's certificate is not valid for the expected name";
    FingerprintMismatch =  802 FINGERPRINT_MISMATCH Tls     Other   "the certificate does not have the expected fingerprint, or no pin matches";
    NotTls              =  803 NOT_TLS             Tls      Other   "the peer does not speak TLS";
    TlsAlert            =  804 TLS_ALERT           Tls      Other   "the peer ended the session with an alert";
    TlsProtocol         =  805 TLS_PROTOCOL        Tls      Other   "the peer broke the TLS protocol";
    TlsTruncated        =  806 TLS_TRUNCATED       Tls      Read    "the connection ended without close_notify";
    TlsHandshakeEof     =  807 TLS_HANDSHAKE_EOF   Tls      Connect "the connection ended during the TLS handshake";
    TlsIncompatible     =  808 TLS_INCOMPATIBLE    Tls      Other   "client and server have no common TLS version, cipher suite, group, ALPN protocol or other parameter";
    TlsEchRejected      =  809 TLS_ECH_REJECTED    Tls      Other   "the server rejected Encrypted Client Hello";

    Protocol            =  900 PROTOCOL            Http     Read    "the peer broke the HTTP protocol or dropped the connection";
    IncompleteRead      =  901 INCOMPLETE_READ     Http     Read    "the body ended before its announced length";
    HeaderParsing       =  902 HEADER_PARSING      Http     Read    "the header block has defects";
    ResponseStatus      =  903 RESPONSE_STATUS     Http     Read    "the response counts as a failed request";
    TooManyRedirects    =  904 TOO_MANY_REDIRECTS  Http     Read    "too many redirects";
    StaleConnection     =  905 STALE_CONNECTION    Http     Read    "a reused connection ended before the first byte of the response";

    MaxRetry            = 1000 MAX_RETRY           Retry    Never   "the retries are used up";
    UnsafeRedirect      = 1001 UNSAFE_REDIRECT     Retry    Never   "the redirect profile does not allow the redirect";
    RetryBudgetEmpty    = 1002 RETRY_BUDGET_EMPTY  Retry    Never   "the retry budget allows no further retry at present";
    BreakerOpen         = 1003 BREAKER_OPEN        Retry    Never   "the circuit breaker allows no request at present";
    StoreUnavailable    = 1004 STORE_UNAVAILABLE   Retry    Never   "the store that processes share could not be used";

    ApplicationError    = 1100 APPLICATION_ERROR   Application Other "the application failed";
}

impl Status {
    /// Returns the name of the C constant.
    pub const fn name(self) -> &'static CStr {
        self.row().name
    }

    /// Returns a sentence that describes the status.
    pub const fn text(self) -> &'static CStr {
        self.row().text
    }

    pub const fn class(self) -> StatusClass {
        self.row().class
    }

    pub const fn retry_kind(self) -> RetryKind {
        self.row().retry
    }

    /// Returns whether the status states that a limit ended a wait.
    pub(crate) const fn is_from_limit(self) -> bool {
        matches!(self, Status::Cancelled | Status::DeadlineExceeded | Status::Interrupted)
    }
}

impl From<()> for Status {
    fn from((): ()) -> Status {
        Status::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_name_and_a_text_and_its_number_gives_its_class() {
        for (i, &status) in Status::ALL.iter().enumerate() {
            let code = status as i32;
            assert_eq!(Status::from_code(code), Some(status));
            assert_eq!(code / 100, status.class() as i32, "{:?}'s hundreds are its class", status);
            assert!(status.name().to_str().unwrap().starts_with("NETLIB_"));
            assert!(!status.text().is_empty());
            assert!(i == 0 || (Status::ALL[i - 1] as i32) < code, "{:?} keeps the table sorted", status);
        }
        assert_eq!(Status::from_code(-1), None);
        assert_eq!(Status::from_code(99), None);
    }
}
