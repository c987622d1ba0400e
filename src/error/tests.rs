use super::*;

#[test]
fn control_characters_in_error_messages_are_escaped() {
    let error = Error::new(Status::InvalidUrl, "a\nb\0c\u{7f}é");
    assert_eq!(error.message(), "a\\nb\\u{0}c\\u{7f}é");
}

#[test]
fn api_names_are_inserted_into_messages_and_advice() {
    let name_of = |name| if name == ApiName::SetCiphers { "set_ciphers" } else { "add_pin" };
    let error = |message| Error::new(Status::Io, message);
    let naming = |before, after| Error::naming(Status::Io, before, ApiName::SetCiphers, after);
    for (error, expected) in [
        (error("x"), "x"),
        (error("x").with_setting(ApiName::SetCiphers), "set_ciphers: x"),
        (error("").with_setting(ApiName::SetCiphers), "set_ciphers: "),
        (naming("say ", " or \n"), "say set_ciphers or \\n"),
        (naming("say ", ""), "say set_ciphers"),
        (naming("say ", "").prefixed("\u{e9}\n"), "\u{e9}\\n: say set_ciphers"),
    ] {
        let outer = Error::new(Status::Io, "outer").with_cause(Arc::new(error.clone())).with_names(name_of);
        assert_eq!((outer.message(), outer.causes()[0].message()), ("outer", expected));
        let error = error.with_names(name_of);
        assert_eq!((error.message(), error.advice_text()), (expected, None));
        assert_eq!(error.with_names(name_of).message(), expected, "the second call changes nothing");
    }
    for (advice, expected) in [
        (Advice::new("to add one", ApiName::AddPin), c"to add one: add_pin"),
        (Advice::with_usage("to choose", ApiName::SetCiphers, " with NULL"), c"to choose: set_ciphers with NULL"),
        (Advice::text("wait"), c"wait"),
        (Advice::owned_text("a\nb".to_owned()), c"a\\nb"),
    ] {
        let error = error("x").with_advice(advice.clone());
        assert_eq!((error.advice(), error.advice_text()), (Some(&advice), None));
        assert_eq!(error.with_names(name_of).advice_text(), Some(expected));
    }
}

#[test]
fn a_long_chain_of_causes_is_truncated() {
    let mut error = Arc::new(Error::new(Status::Io, "0"));
    for i in 1..100_000 {
        error = Arc::new(Error::new(Status::Io, i.to_string()).with_cause(error));
    }
    let mut depth = 0;
    let mut at = &error;
    while let Some(cause) = at.causes().first() {
        (depth, at) = (depth + 1, cause);
    }
    assert!((1..=MAX_DEPTH).contains(&depth), "{depth}");
}

/// The error at each of 8 levels has 16 causes, which are all the same shared error. If netlib kept all causes, the
/// tree would have more than 16^8 errors.
#[test]
fn a_large_tree_of_causes_is_truncated() {
    fn count_errors(error: &Error) -> usize {
        1 + error.causes().iter().map(|cause| count_errors(cause)).sum::<usize>()
    }
    let mut error = Arc::new(Error::new(Status::Io, "leaf"));
    for _ in 0..8 {
        let wide = Error::new(Status::Io, "wide");
        error = Arc::new((0..16).fold(wide, |wide, _| wide.with_cause(Arc::clone(&error))));
        assert_eq!(error.causes().len(), 16);
        assert!((17..=MAX_ERRORS).contains(&count_errors(&error)), "{}", count_errors(&error));
    }
}

#[test]
fn an_error_with_1023_causes_drops_the_next_cause_but_keeps_its_retry_kind() {
    let cause = Arc::new(Error::new(Status::Io, "cause"));
    let error = (1..MAX_ERRORS)
        .fold(Error::new(Status::ConnectFailed, "full"), |error, _| error.with_cause(Arc::clone(&cause)));
    assert_eq!((error.causes().len(), error.retry_kind()), (1023, RetryKind::Connect));
    let sent = Arc::new(Error::new(Status::Io, "sent").after_request_was_sent());
    for _ in 0..2 {
        let error = error.clone().with_cause(Arc::clone(&sent));
        assert_eq!((error.causes().len(), error.retry_kind()), (1023, RetryKind::Read));
    }
}

#[test]
fn a_proxy_error_has_the_retry_kind_of_its_cause() {
    let kind = |status| {
        let cause = Arc::new(Error::new(status, "cause"));
        Error::new(Status::ProxyFailed, "proxy").with_cause(cause).retry_kind()
    };
    for &status in Status::ALL.iter().filter(|&&status| status != Status::ProxyFailed) {
        assert_eq!(kind(status), status.retry_kind(), "{status:?}");
    }
    assert_eq!(Error::new(Status::ProxyFailed, "alone").retry_kind(), RetryKind::Other);
}

/// A cause whose own causes are dropped keeps the retry kind that the dropped causes determined.
#[test]
fn nested_proxy_errors_have_the_retry_kind_of_the_innermost_cause() {
    for status in [Status::ConnectFailed, Status::ReadTimeout, Status::CertificateVerify, Status::Cancelled] {
        let mut error = Arc::new(Error::new(status, "cause"));
        for depth in 1..3 * MAX_DEPTH {
            error = Arc::new(Error::new(Status::ProxyFailed, "proxy").with_cause(error));
            assert_eq!(error.retry_kind(), status.retry_kind(), "{status:?} {depth}");
        }
    }
}

#[test]
fn an_error_after_the_request_was_sent_becomes_a_read_error() {
    for &status in Status::ALL {
        let error = Error::new(status, "x");
        let is_never = error.retry_kind() == RetryKind::Never;
        let sent = error.after_request_was_sent();
        let expected = if is_never { RetryKind::Never } else { RetryKind::Read };
        assert_eq!(sent.retry_kind(), expected, "{status:?}");
        // `outer` becomes a read error if its cause is `sent`, unless `outer` is never retried. A proxy error is never
        // retried if its cause is never retried.
        for outer in
            [Status::ProxyFailed, Status::ConnectFailed, Status::TlsProtocol, Status::MaxRetry, Status::Cancelled]
        {
            let outer = Error::new(outer, "y");
            let expected = match (outer.status(), outer.retry_kind()) {
                (Status::ProxyFailed, _) if is_never => RetryKind::Never,
                (_, RetryKind::Never) => RetryKind::Never,
                _ => RetryKind::Read,
            };
            assert_eq!(outer.with_cause(Arc::new(sent.clone())).retry_kind(), expected, "{status:?}");
        }
    }
    let never = Error::new(Status::InvalidHeader, "x").never_retried();
    assert_eq!(never.after_request_was_sent().retry_kind(), RetryKind::Never);
    let ended = Error::new(Status::InvalidUrl, "x").after_request_was_sent().never_retried();
    assert_eq!((ended.retry_kind(), ended.was_sent()), (RetryKind::Never, true));
}

/// Every `Result` is at least as large as its error.
#[test]
fn an_error_is_as_small_as_a_pointer() {
    assert_eq!((size_of::<Error>(), size_of::<Result<()>>()), (size_of::<usize>(), size_of::<usize>()));
}
