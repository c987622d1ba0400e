use rustls::{ClientConnection, HandshakeKind, ServerConnection};
use rustls_pki_types::ServerName;

use super::*;

const CA: &[u8] = include_bytes!("../../../tests/certs/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("../../../tests/certs/server.pem");
const KEY: &[u8] = include_bytes!("../../../tests/certs/server.key");

fn context(set: impl Fn(&mut TlsOptions)) -> Arc<Context> {
    let mut options = TlsOptions::default();
    options.add_ca_data(CA).unwrap();
    options.set_identity(CERTIFICATE, Some(KEY)).unwrap();
    options.set_use_environment(false);
    set(&mut options);
    Arc::new(Context::new(&options).unwrap())
}

/// Completes a handshake between a client and a server, and returns the kind of the handshake.
fn complete_handshake(client: &Context, server: &Context) -> Option<HandshakeKind> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(client.client_config(true).unwrap(), name).unwrap();
    let mut server = ServerConnection::new(server.server_config().unwrap()).unwrap();
    while client.wants_write() || server.wants_write() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        server.read_tls(&mut bytes.as_slice()).unwrap();
        server.process_new_packets().unwrap();
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        client.read_tls(&mut bytes.as_slice()).unwrap();
        client.process_new_packets().unwrap();
    }
    assert_eq!(client.handshake_kind(), server.handshake_kind());
    client.handshake_kind()
}

#[test]
fn sessions_are_resumed_only_if_client_and_server_allow_it() {
    use Version::{Tls12, Tls13};
    let of = |version: Version, bits, resumption| {
        context(move |options| {
            options.set_minimum_version(version as i32).unwrap();
            options.set_maximum_version(version as i32).unwrap();
            options.set_options(bits).unwrap();
            options.set_resumption(resumption);
        })
    };
    const TICKETS: i64 = 0;
    const NO_TICKETS: i64 = bits::NO_TICKET;
    // Each row has the version, the client's option bits and resumption setting, the server's option bits and
    // resumption setting, and whether the second handshake resumes the first session.
    for (version, client, server, resumes) in [
        (Tls12, (NO_TICKETS, true), (NO_TICKETS, true), true),
        (Tls12, (TICKETS, true), (NO_TICKETS, true), true),
        (Tls12, (NO_TICKETS, true), (TICKETS, true), true),
        (Tls12, (TICKETS, true), (TICKETS, true), true),
        (Tls12, (TICKETS, false), (TICKETS, true), false),
        (Tls12, (TICKETS, true), (TICKETS, false), false),
        (Tls12, (NO_TICKETS, true), (NO_TICKETS, false), false),
        (Tls13, (NO_TICKETS, true), (NO_TICKETS, true), true),
        (Tls13, (TICKETS, true), (TICKETS, true), true),
        (Tls13, (NO_TICKETS, false), (NO_TICKETS, true), false),
        (Tls13, (TICKETS, true), (TICKETS, false), false),
    ] {
        let case = format!("{version:?} {client:?} {server:?}");
        let client = of(version, client.0, client.1);
        let server = of(version, server.0, server.1);
        let first = complete_handshake(&client, &server);
        assert!(first.is_some_and(|kind| kind != HandshakeKind::Resumed), "{case}");
        assert_eq!(complete_handshake(&client, &server) == Some(HandshakeKind::Resumed), resumes, "{case}");
    }
}

/// A server that stores no sessions can resume a session only from the client's ticket.
#[test]
fn tls_1_2_tickets_are_used_only_if_enabled() {
    for (on, resumes) in [(true, true), (false, false)] {
        let client = context(|options| {
            options.set_maximum_version(Version::Tls12 as i32).unwrap();
            options.set_session_tickets(on);
        });
        let server = context(|options| {
            options.set_session_tickets(on);
        });
        complete_handshake(&client, &server);
        let mut without_storage = Context::clone(&server);
        let mut config = ServerConfig::clone(&server.server_config().unwrap());
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        without_storage.server = Some(Arc::new(config));
        assert_eq!(complete_handshake(&client, &without_storage) == Some(HandshakeKind::Resumed), resumes, "{on}");
    }
}

#[test]
fn a_context_derived_for_http_1_1_resumes_sessions_that_it_received() {
    let server = context(|options| {
        options.add_alpn_protocol(b"h2").unwrap();
        options.add_alpn_protocol(b"http/1.1").unwrap();
    });
    let client = context(|options| options.add_alpn_protocol(b"h2").unwrap());
    let derived = Context::for_socket(&TlsOptions::default(), Some(&client)).unwrap();
    assert_eq!(derived.alpn_protocols(), [c"http/1.1".to_owned()]);
    assert!(Arc::ptr_eq(&derived, &Context::for_socket(&TlsOptions::default(), Some(&client)).unwrap()));
    complete_handshake(&derived, &server);
    assert_eq!(complete_handshake(&derived, &server), Some(HandshakeKind::Resumed));
    assert_eq!(client.alpn_protocols(), [c"h2".to_owned()]);
    let plain = context(|options| options.add_alpn_protocol(b"http/1.1").unwrap());
    assert!(Arc::ptr_eq(&plain, &Context::for_socket(&TlsOptions::default(), Some(&plain)).unwrap()));
}

/// Derives contexts from options with no, one or two ALPN protocols, with and without an added authority.
#[test]
fn derived_contexts_enable_early_data_only_with_a_single_alpn_protocol() {
    let early = context(|options| options.set_early_data(true));
    for (protocols, adds, expected) in [
        (&[][..], false, true),
        (&[], true, true),
        (&["h2"], false, true),
        (&["h2"], true, true),
        (&["h2", "http/1.1"], false, false),
        (&["h2", "http/1.1"], true, false),
    ] {
        let mut options = TlsOptions::default();
        protocols.iter().for_each(|protocol| options.add_alpn_protocol(protocol.as_bytes()).unwrap());
        if adds {
            options.add_ca_data(CA).unwrap();
        }
        let derived = Context::for_socket(&options, Some(&early)).unwrap();
        let early_data =
            (derived.client_config(true).unwrap().enable_early_data, derived.early_data_limits().is_some());
        assert_eq!(early_data, (expected, expected), "{protocols:?} {adds}");
    }
}

#[test]
fn servers_with_a_single_cipher_suite_complete_the_handshake() {
    let server = context(|options| {
        options.set_ciphers(Some(b"TLS_AES_128_GCM_SHA256")).unwrap();
    });
    assert_eq!((server.minimum_version(), server.cipher_count()), (Version::Tls13, 1));
    assert!(complete_handshake(&context(|_| {}), &server).is_some());
}
