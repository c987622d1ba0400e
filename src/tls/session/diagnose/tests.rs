use super::*;
use crate::tls::session::peer_request::CertificateSelection;

fn facts() -> SessionFacts<'static> {
    SessionFacts {
        is_server: false,
        name: Some("a.example"),
        public_name: None,
        is_rejected: false,
        restrictions: Restrictions::default(),
        peer_request: None,
        handshaking: true,
        unread: &[],
        received_record: true,
        newest_offered: None,
    }
}

#[test]
fn errors_for_non_tls_input_name_the_protocol_and_do_not_quote_the_input() {
    for (bytes, expected) in [
        (&b"HTTP/1.1 400 Bad Request\r\n"[..], "plain HTTP"),
        (b"GET /?token=secret HTTP/1.1", "plain HTTP request"),
        (b"SSH-2.0-x", "SSH"),
        (b"220 mail", "mail or FTP"),
        (b"\x80x", "0x80"),
    ] {
        let facts = SessionFacts { unread: bytes, received_record: false, ..facts() };
        let error = facts.explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType), None);
        assert_eq!(error.status(), Status::NotTls);
        assert!(error.message().contains(expected) && !error.message().contains("secret"), "{error}");
    }
    let later = facts().explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType), None);
    assert_eq!(later.status(), Status::TlsProtocol);
}

#[test]
fn errors_for_alerts_contain_the_number_and_name_of_the_alert() {
    let error = facts().explain(&TlsError::AlertReceived(AlertDescription::CertificateRequired), None);
    assert_eq!((error.status(), error.tls_alert()), (Status::TlsAlert, Some(116)));
    assert!(error.message().contains("116 (certificate_required)"), "{error}");
    // close_notify during the handshake counts as a truncation, not as a refusal.
    let error = facts().explain(&TlsError::AlertReceived(AlertDescription::CloseNotify), None);
    assert_eq!((error.status(), error.tls_alert()), (Status::TlsHandshakeEof, Some(0)));
}

#[test]
fn alert_explanations_depend_on_the_answer_to_a_certificate_request() {
    let peer_request = |selection| Some(PeerRequest::Certificate(selection));
    let parameters = "no TLS version, cipher suite or parameters in common";
    for (number, handshaking, peer_request, expected) in [
        (40, true, None, Some(parameters)),
        (71, true, None, Some(parameters)),
        (40, false, None, None),
        (71, false, None, None),
        (
            40,
            true,
            peer_request(CertificateSelection::NoCertificate),
            Some("it requested a certificate, and none was sent"),
        ),
        (
            40,
            false,
            peer_request(CertificateSelection::NoCertificate),
            Some("it requested a certificate, and none was sent"),
        ),
        (
            40,
            true,
            peer_request(CertificateSelection::NoUsableKey),
            Some("and none was sent: this side's key supports none of the requested"),
        ),
        (40, true, peer_request(CertificateSelection::Certificate), Some("may have rejected the one that was sent")),
        // Servers written in Java and Go send bad_certificate (42) with TLS 1.2.
        (
            42,
            true,
            peer_request(CertificateSelection::NoCertificate),
            Some("it requested a certificate, and none was sent"),
        ),
        (
            42,
            true,
            peer_request(CertificateSelection::Certificate),
            Some("it does not accept this side's certificate"),
        ),
        (70, true, peer_request(CertificateSelection::NoCertificate), Some("it offers neither TLS 1.2 nor TLS 1.3")),
    ] {
        let facts = SessionFacts { peer_request: peer_request.as_ref(), handshaking, ..facts() };
        let error = facts.alert(number);
        let hint = error.message().split_once("): ").map(|(_, hint)| hint);
        match expected {
            None => assert_eq!(hint, None, "{number}"),
            Some(expected) => assert!(hint.is_some_and(|hint| hint.contains(expected)), "{number}: {hint:?}"),
        }
    }
}
