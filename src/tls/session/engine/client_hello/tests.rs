//! Tests servers with a server-name callback, and controls every byte between client and server.

use rustls_pki_types::ServerName;

use super::super::tests::{CA, complete_handshake, context, drain, feed, pair};
use super::super::*;
use crate::tls::Choice;

/// Returns a context whose callback returns `result`, and the names that the callback was called with.
fn asking(result: impl Fn() -> Result<Choice> + Send + Sync + 'static) -> (Arc<Context>, Names) {
    let names = Names::default();
    let heard = Arc::clone(&names);
    let peer_request = context(|options| {
        options.set_server_name_callback(Some(Arc::new(move |name: Option<&std::ffi::CStr>| {
            heard.lock().unwrap().push(name.map(|name| name.to_str().unwrap().to_owned()));
            result()
        })));
    });
    (peer_request, names)
}

type Names = Arc<std::sync::Mutex<Vec<Option<String>>>>;

/// Processes the input and invokes pending callbacks.
fn drive(engine: &mut Engine) -> Result<bool> {
    while !engine.handshake()? {
        let Some(pending) = engine.take_pending_callback() else { return Ok(false) };
        engine.finish_callback(pending.invoke());
    }
    Ok(true)
}

#[test]
fn a_second_client_hello_does_not_run_the_server_name_callback_again() {
    use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
    use rustls_pki_types::{CertificateDer, pem::PemObject};
    let other = context(|_| {});
    let chosen = Arc::clone(&other);
    let (asks, names) = asking(move || Ok(Choice::Use(chosen.clone())));
    // The server does not support the group of the client's key share, so it sends a HelloRetryRequest.
    let groups = vec![kx_group::MLKEM1024, kx_group::SECP384R1];
    let provider = rustls::crypto::CryptoProvider { kx_groups: groups, ..default_provider() };
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CA).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let session = Connection::client(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut client = Engine::new(&other, session, false, Some("localhost".into()));
    let mut server = Engine::server(&asks).unwrap();
    for _ in 0..4 {
        client.handshake().unwrap();
        for byte in drain(&mut client) {
            feed(&mut server, &[byte]);
            drive(&mut server).unwrap();
        }
        feed(&mut client, &drain(&mut server));
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    let kind = client.connection().handshake_kind();
    assert_eq!(kind, Some(rustls::HandshakeKind::FullWithHelloRetryRequest));
    assert_eq!(*names.lock().unwrap(), [Some("localhost".to_owned())]);
    assert_eq!(server.server_name(), Some("localhost"));
    // A session keeps the context that its callback chose.
    assert!(Arc::ptr_eq(&server.context, &other));
    // The server name in the second ClientHello must not reach the next session on this thread.
    let mut next = Engine::server(&other).unwrap();
    next.handshake().unwrap();
    assert_eq!(next.server_name(), None);
}

#[test]
fn a_warning_alert_before_the_client_hello_is_ignored() {
    let (asks, names) = asking(|| Ok(Choice::Stay));
    let (mut client, mut server) = pair(&asks);
    client.handshake().unwrap();
    // The input contains the warning user_canceled, which may be ignored, and then the ClientHello.
    feed(&mut server, &[&[0x15, 0x03, 0x01, 0x00, 0x02, 1, 90][..], &drain(&mut client)].concat());
    assert!(!drive(&mut server).unwrap());
    assert_eq!(*names.lock().unwrap(), [Some("localhost".to_owned())]);
    complete_handshake(&mut client, &mut server, usize::MAX);
}

#[test]
fn the_handshake_waits_for_the_server_name_callback_despite_end_of_input() {
    let (asks, names) = asking(|| Ok(Choice::Stay));
    let (mut client, mut server) =
        (Engine::client(&asks, Some("localhost")).unwrap(), Engine::server(&asks).unwrap());
    client.handshake().unwrap();
    feed(&mut server, &drain(&mut client));
    server.end_input();
    assert!(!server.handshake().unwrap());
    let pending = server.take_pending_callback().unwrap();
    // The handshake waits until the callback has returned, and the callback is called once.
    assert!(server.take_pending_callback().is_none() && !server.handshake().unwrap());
    server.finish_callback(pending.invoke());
    assert_eq!(server.handshake().unwrap_err().status(), Status::TlsHandshakeEof);
    assert!(server.has_output());
    assert_eq!(names.lock().unwrap().len(), 1);
}

/// Each context has a buffer pool. If the server name callback chooses another context, the session keeps using the
/// pool of its first context.
#[test]
fn a_session_keeps_the_buffer_pool_of_its_first_context() {
    let chosen = context(|_| {});
    let result = Arc::clone(&chosen);
    let (asks, _) = asking(move || Ok(Choice::Use(result.clone())));
    for _ in 0..3 {
        let mut client = Engine::client(&context(|_| {}), Some("localhost")).unwrap();
        let mut server = Engine::server(&asks).unwrap();
        for _ in 0..3 {
            client.handshake().unwrap();
            feed(&mut server, &drain(&mut client));
            drive(&mut server).unwrap();
            while let Some(mut piece) = server.next_output() {
                feed(&mut client, piece.bytes());
                client.handshake().unwrap();
                piece.consume(piece.bytes().len());
                server.return_output(piece);
            }
        }
        assert!(!server.is_handshaking());
        // One buffer for input, one for output.
        assert_eq!((asks.pool().kept(), chosen.pool().kept()), (2, 0));
    }
}
