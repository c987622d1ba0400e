use super::*;

fn names_of(string: &str) -> Result<Vec<&'static str>> {
    let selection = Selection::parse(string.as_bytes())?;
    Ok(selection.suites.iter().map(|suite| openssl_name(*suite).unwrap().to_str().unwrap()).collect())
}

#[test]
fn every_cipher_suite_of_the_crypto_provider_is_in_a_cipher_table() {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    assert_eq!(provider.cipher_suites.len(), TLS12.len() + TLS13.len());
    for suite in &provider.cipher_suites {
        assert!(openssl_name(suite.suite()).is_some(), "{suite:?}");
    }
    let all = Selection::parse(b"ALL").unwrap();
    for (version, count) in [(Version::Tls12, 6), (Version::Tls13, 3)] {
        for processor in [Processor::WithAes, Processor::WithoutAes] {
            assert_eq!(offered(&provider, None, version, processor).len(), count);
            assert_eq!(offered(&provider, Some(&all), version, processor).len(), count);
        }
    }
}

#[test]
fn all_tls13_suites_stay_selected_unless_the_string_adds_or_removes_one() {
    const USUAL: [&str; 3] = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];
    const RSA128: &str = "ECDHE-RSA-AES128-GCM-SHA256";
    for (string, expected) in [
        (RSA128, [&USUAL[..], &[RSA128]].concat()),
        ("ECDHE-RSA-AES128-GCM-SHA256:!TLS_AES_256_GCM_SHA384", vec![USUAL[1], USUAL[2], RSA128]),
        ("ECDHE-RSA-AES128-GCM-SHA256:-TLS_AES_256_GCM_SHA384", vec![USUAL[1], USUAL[2], RSA128]),
        ("ECDHE-RSA-AES128-GCM-SHA256:+TLS_AES_256_GCM_SHA384", vec![USUAL[1], USUAL[2], USUAL[0], RSA128]),
        ("TLS_AES_128_GCM_SHA256", vec![USUAL[2]]),
        ("TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384", vec![USUAL[2], USUAL[0]]),
        ("TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256", vec![USUAL[2], RSA128]),
        ("!TLS_AES_128_GCM_SHA256:TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256", vec![RSA128]),
        // Words joined by "+" select TLS 1.2 suites only, so the name of a TLS 1.3 suite in such a group is reported as
        // unknown.
        ("ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256+AES", [&USUAL[..], &[RSA128]].concat()),
    ] {
        assert_eq!(names_of(string).unwrap(), expected, "{string}");
    }
}

#[test]
fn errors_for_refused_cipher_strings_state_the_reason() {
    const NOTHING: &str = "ciphers selects none of ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-RSA-AES256-GCM-SHA384, \
                           ECDHE-ECDSA-CHACHA20-POLY1305, ECDHE-RSA-CHACHA20-POLY1305, ECDHE-ECDSA-AES128-GCM-SHA256, \
                           ECDHE-RSA-AES128-GCM-SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, \
                           TLS_AES_128_GCM_SHA256";
    for (string, status, offset, message) in [
        ("AES128-SHA", Status::NoCipherSuites, None, format!("{NOTHING}; unknown: AES128-SHA")),
        ("HIGH:!AES:!CHACHA20", Status::NoCipherSuites, None, NOTHING.to_owned()),
        ("kRSA", Status::NoCipherSuites, None, NOTHING.to_owned()),
        (" :", Status::NoCipherSuites, None, NOTHING.to_owned()),
        (
            "AES$",
            Status::InvalidArgument,
            Some(3),
            "ciphers has \"$\" at byte 3, where a cipher suite or keyword is expected".to_owned(),
        ),
        (
            "HIGH:+",
            Status::InvalidArgument,
            Some(6),
            "ciphers ends at byte 6, where a cipher suite or keyword is expected".to_owned(),
        ),
        (
            "\u{e9}",
            Status::InvalidArgument,
            Some(0),
            "ciphers has \"\\xc3\" at byte 0, where a cipher suite or keyword is expected".to_owned(),
        ),
        (
            "HIGH:@FOO",
            Status::InvalidArgument,
            Some(5),
            "ciphers has @FOO at byte 5, which is neither @STRENGTH nor @SECLEVEL=0 to 5".to_owned(),
        ),
        (
            "HIGH@SECLEVEL=3",
            Status::Unsupported,
            Some(4),
            "ciphers has @SECLEVEL=3 at byte 4, but the minimum key sizes are always those of level 2".to_owned(),
        ),
        (
            "SUITEB128",
            Status::Unsupported,
            None,
            "ciphers selects Suite B, which also restricts curves and signatures: list the cipher suites instead"
                .to_owned(),
        ),
    ] {
        let error = names_of(string).unwrap_err();
        assert_eq!((error.status(), error.message(), error.offset()), (status, message.as_str(), offset), "{string}");
    }
    let long = "A".repeat(MAX_STRING + 1);
    let error = names_of(&long).unwrap_err();
    assert_eq!(
        (error.status(), error.message()),
        (Status::InvalidArgument, "ciphers must have at most 16384 bytes; it has 16385")
    );
    assert_eq!(names_of(&format!("HIGH:{}", "A".repeat(MAX_STRING - 5))).unwrap().len(), 9);
}

#[test]
fn unknown_words_of_a_cipher_string_are_listed_in_order() {
    for (string, unknown) in [
        ("HIGH", None),
        ("HIGH:RC4:!aNULL:EXPORT", None),
        ("ECHDE+AESGCM:HIGH:!NOPE:DES-CBC3-SHA", Some(c"ECHDE:NOPE:DES-CBC3-SHA")),
    ] {
        assert_eq!(Selection::parse(string.as_bytes()).unwrap().unknown(), unknown, "{string}");
    }
}

/// Replaces each byte of a cipher string, one at a time, by each of the 256 byte values. Parsing the changed string
/// returns suites or an error, and never panics.
#[test]
fn parsing_a_cipher_string_with_a_changed_byte_never_panics() {
    let string = b"HIGH:+AES+aRSA:-TLS_AES_128_GCM_SHA256:@SECLEVEL=1!x";
    for at in 0..string.len() {
        for byte in 0..=255 {
            let mut changed = string.to_vec();
            changed[at] = byte;
            let answer = Selection::parse(&changed).map(|_| ()).map_err(|error| error.status());
            let expected =
                [Ok(()), Err(Status::InvalidArgument), Err(Status::NoCipherSuites), Err(Status::Unsupported)];
            assert!(expected.contains(&answer), "{changed:?}");
        }
    }
}
