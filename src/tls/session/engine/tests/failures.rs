//! Tests the errors of sessions that are truncated or refused, or whose peer breaks the protocol.

use super::*;

#[test]
fn close_notify_ends_a_session_and_its_absence_is_a_truncation() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    client.write(b"last words").unwrap();
    client.close().unwrap();
    client.close().unwrap();
    assert_eq!(client.write(b"more").unwrap_err().status(), Status::Closed);
    feed(&mut server, &drain(&mut client));
    let mut room = [0; 100];
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(10));
    assert_eq!(server.read(&mut room).unwrap(), Read::End);
    // The direction from this side to the peer is still open.
    server.write(b"answer").unwrap();
    let records = drain(&mut server);
    feed(&mut client, &records[..records.len() - 1]);
    client.end_input();
    for _ in 0..2 {
        assert_eq!(client.read(&mut room).unwrap_err().status(), Status::TlsTruncated);
    }
}

#[test]
fn reads_return_the_data_before_a_corrupt_record_and_then_fail() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    client.write(b"good").unwrap();
    let good = drain(&mut client);
    client.write(b"bad").unwrap();
    let mut bad = drain(&mut client);
    bad[8] ^= 1;
    feed(&mut server, &[good, bad].concat());
    let mut room = [0; 100];
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(4));
    for _ in 0..2 {
        let error = server.read(&mut room).unwrap_err();
        assert_eq!((error.status(), error.tls_alert()), (Status::TlsProtocol, Some(20)));
    }
    assert_eq!(server.write(b"x").unwrap_err().status(), Status::TlsProtocol);
    feed(&mut client, &drain(&mut server));
    let error = client.read(&mut room).unwrap_err();
    assert_eq!((error.status(), error.tls_alert()), (Status::TlsAlert, Some(20)));
}

#[test]
fn first_flights_truncated_at_any_byte_cause_an_error() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    client.handshake().unwrap();
    let hello = drain(&mut client);
    feed(&mut server, &hello);
    server.handshake().unwrap();
    let flight = drain(&mut server);
    for cut in 0..flight.len() {
        let mut client = Engine::client(&context, Some("localhost")).unwrap();
        client.handshake().unwrap();
        feed(&mut client, &flight[..cut]);
        client.end_input();
        // The recorded flight of the server answers another ClientHello. So the client refuses the flight, unless the
        // truncated input ends before the client can detect the mismatch.
        let error = client.handshake().unwrap_err();
        assert!(matches!(error.status(), Status::TlsHandshakeEof | Status::TlsProtocol), "{cut}: {error}");
        assert_eq!(client.handshake().unwrap_err().status(), error.status());
    }
    for cut in 0..hello.len() {
        let mut server = Engine::server(&context).unwrap();
        feed(&mut server, &hello[..cut]);
        assert!(!server.handshake().unwrap());
        server.end_input();
        assert_eq!(server.handshake().unwrap_err().status(), Status::TlsHandshakeEof, "{cut}");
    }
}

#[test]
fn a_handshake_message_in_one_byte_records_is_refused_in_bounded_memory() {
    let context = context(|_| {});
    // Divides a ServerHello of 60,000 bytes into records with one byte of the message each; with its header, such a
    // record has 6 bytes.
    let mut client = Engine::client(&context, Some("localhost")).unwrap();
    client.handshake().unwrap();
    let mut message = vec![2, 0, 0xea, 0x60];
    message.resize(60_000, 0);
    let wire: Vec<u8> = message.iter().flat_map(|byte| [22, 3, 3, 0, 1, *byte]).collect();
    let mut at = 0;
    let failure = loop {
        let mut input = match client.lend_input() {
            Ok(input) => input,
            Err(error) => break error,
        };
        let count = (wire.len() - at).min(input.space().len()).min(5000);
        assert!(count > 0, "the end of the wire");
        input.space()[..count].copy_from_slice(&wire[at..at + count]);
        input.add(count);
        at += count;
        client.take_back(input);
        if let Err(error) = client.handshake() {
            break error;
        }
    };
    assert_eq!(failure.status(), Status::TlsProtocol);
    assert!(at < 80_000, "{at}");
}

#[test]
fn a_client_needs_a_server_name_only_if_it_checks_host_names() {
    let named = context(|_| {});
    for missing in [None, Some("")] {
        let error = Engine::client(&named, missing).err().unwrap();
        assert_eq!(error.status(), Status::InvalidArgument);
        assert_eq!(error.advice(), None);
    }
    let nameless = context(|options| options.set_check_hostname(false));
    for name in [None, Some(""), Some("wrong.example")] {
        let mut client = Engine::client(&nameless, name).unwrap();
        let mut server = Engine::server(&named).unwrap();
        complete_handshake(&mut client, &mut server, usize::MAX);
    }
    // The context verifies certificates, but does not check host names.
    let self_signed = include_bytes!("../../../../../tests/certs/self-signed.pem");
    let key = include_bytes!("../../../../../tests/certs/self-signed.key");
    let other = context(|options| options.set_identity(self_signed, Some(key)).unwrap());
    let (mut client, mut server) = (Engine::client(&nameless, None).unwrap(), Engine::server(&other).unwrap());
    client.handshake().unwrap();
    feed(&mut server, &drain(&mut client));
    server.handshake().unwrap();
    feed(&mut client, &drain(&mut server));
    let error = client.handshake().unwrap_err();
    assert_eq!(error.status(), Status::CertificateVerify);
    assert!(error.message().contains("(CN=localhost) is self-signed"), "{error}");
}

#[test]
fn a_handshake_without_a_common_signature_scheme_fails_as_incompatible() {
    // A ClientHello of TLS 1.2 with one ECDSA suite and only the signature scheme for P-384.
    let extensions = [
        [0x00, 0x0a, 0x00, 0x04, 0x00, 0x02, 0x00, 0x17].as_slice(),
        &[0x00, 0x0b, 0x00, 0x02, 0x01, 0x00],
        &[0x00, 0x0d, 0x00, 0x04, 0x00, 0x02, 0x05, 0x03],
    ]
    .concat();
    let mut body = vec![0x03, 0x03];
    body.extend([7; 32]);
    body.extend([0x00, 0x00, 0x02, 0xc0, 0x2b, 0x01, 0x00, 0x00, extensions.len() as u8]);
    body.extend(extensions);
    let mut hello = vec![0x16, 0x03, 0x01, 0x00, body.len() as u8 + 4, 0x01, 0x00, 0x00, body.len() as u8];
    hello.extend(body);
    let (_, mut server) = pair(&context(|_| ()));
    feed(&mut server, &hello);
    let error = server.handshake().unwrap_err();
    assert_eq!(error.status(), Status::TlsIncompatible, "{error}");
}

#[test]
fn a_read_after_close_fails_if_the_peer_sends_an_invalid_record() {
    let (mut client, mut server) = pair(&context(|_| ()));
    complete_handshake(&mut client, &mut server, usize::MAX);
    client.close().unwrap();
    drain(&mut client);
    feed(&mut client, &[0x17, 0x03, 0x03, 0x00, 0x12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
    let error = client.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.status(), Status::TlsProtocol, "{error}");
}

/// When the client's handshake ends, the server has verified the client's certificate with TLS 1.2, but not yet with
/// TLS 1.3.
#[test]
fn a_certificate_request_explains_later_alerts_only_in_tls_1_3() {
    for (version, may_explain) in [(Version::Tls12, false), (Version::Tls13, true)] {
        let asking = context(|options| options.set_verify_mode(1).unwrap());
        let mut options = TlsOptions::default();
        options.set_use_environment(false);
        options.add_ca_data(CA).unwrap();
        options.maximum_version = version;
        let bare = Arc::new(Context::new(&options).unwrap());
        let mut client = Engine::client(&bare, Some("localhost")).unwrap();
        let mut server = Engine::server(&asking).unwrap();
        complete_handshake(&mut client, &mut server, usize::MAX);
        let peer_request = PeerRequest::Certificate(CertificateSelection::NoCertificate);
        assert_eq!(client.facts().peer_request == Some(&peer_request), may_explain, "{version:?}");
        assert_eq!(server.server_name(), Some("localhost"));
    }
}
