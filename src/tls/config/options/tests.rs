use super::*;

#[test]
fn alpn_protocols_have_a_maximum_length_and_a_maximum_total_length() {
    let mut options = TlsOptions::default();
    for protocol in [&b""[..], &[b'x'; 256]] {
        assert_eq!(options.add_alpn_protocol(protocol).unwrap_err().status(), Status::InvalidArgument);
    }
    for _ in 0..MAX_ALPN / 256 {
        options.add_alpn_protocol(&[b'x'; 255]).unwrap();
    }
    assert_eq!(options.add_alpn_protocol(b"h2").unwrap_err().status(), Status::InvalidArgument);
}

#[test]
fn alpn_protocol_that_looks_like_a_list_is_refused() {
    let comma = |at: usize| Err(format!("protocol has a comma (at byte {at}): it must be a single protocol name"));
    let lengths = || Err("protocol contains length bytes (at byte 0): it must be a single protocol name".to_owned());
    for (protocol, expected) in [
        (&b"h2"[..], Ok(())),
        (b"acme-tls/1", Ok(())),
        (b"h2 http/1.1", Ok(())),
        (b"\xff\x01", Ok(())),
        (b"h2,http/1.1", comma(2)),
        (b",", comma(0)),
        (b"h2,", comma(2)),
        (b"\x02h2\x08http/1.1", lengths()),
        (b"\x02h2", lengths()),
        (b"\x02h2\x08http/1.1 ", Ok(())),
        (b"\x02h2\x08http/1.", Ok(())),
        (b"\x02h2h2", Ok(())),
        // Protocol names that are reserved for GREASE (RFC 8701).
        (b"\x0a\x0a", Ok(())),
        (b"\x2a\x2a", Ok(())),
        (b"\xfa\xfa", Ok(())),
        // A name that begins with its own length, where the length is a printable character.
        (b"!aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Ok(())),
    ] {
        let added = TlsOptions::default().add_alpn_protocol(protocol);
        assert_eq!(added.map_err(|error| error.message().to_owned()), expected, "{protocol:?}");
    }
}

#[test]
fn check_hostname_replaces_an_earlier_and_refuses_a_later_verify_mode_none() {
    let modes_after = |steps: &[(&str, i32)]| {
        let mut options = TlsOptions::default();
        for (what, value) in steps {
            match *what {
                "mode" => options.set_verify_mode(*value).map_err(|error| error.status())?,
                _ => options.set_check_hostname(*value == 1),
            }
        }
        Ok((options.client_mode() as i32, options.checks_hostname()))
    };
    let refused = Err(Status::InvalidArgument);
    for (steps, expected) in [
        (&[][..], Ok((2, true))),
        (&[("mode", 2)], Ok((2, true))),
        (&[("mode", 1)], Ok((1, true))),
        (&[("mode", 0)], Ok((0, false))),
        (&[("name", 0)], Ok((2, false))),
        (&[("name", 0), ("mode", 0)], Ok((0, false))),
        (&[("mode", 1), ("name", 0)], Ok((1, false))),
        (&[("mode", 1), ("name", 1)], Ok((1, true))),
        (&[("mode", 0), ("name", 1)], Ok((2, true))),
        (&[("name", 1), ("mode", 0)], refused),
        (&[("mode", 3)], refused),
        (&[("mode", -1)], refused),
    ] {
        assert_eq!(modes_after(steps), expected, "{steps:?}");
    }
}
