//! Tests engines with peers that use rustls directly, in configurations that netlib never uses.

use rustls::crypto::aws_lc_rs::{default_provider, kx_group, sign};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, RootCertStore, ServerConfig, ServerConnection,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::{context, drain, feed};
use crate::error::CertificateProblem;
use crate::tls::config::Version;
use crate::tls::session::engine::*;

const CA: &[u8] = include_bytes!("../../../../../tests/certs/ca.pem");
const SERVER: &[u8] = include_bytes!("../../../../../tests/certs/server.pem");
const CLIENT: &[u8] = include_bytes!("../../../../../tests/certs/client.pem");
const CLIENT_KEY: &[u8] = include_bytes!("../../../../../tests/certs/client.key");
const SERVER_KEY: &[u8] = include_bytes!("../../../../../tests/certs/server.key");

fn certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).map(|der| der.unwrap()).collect()
}

/// Combines a certificate chain with a key, which need not belong to the certificate.
fn identity(chain: &[u8], key: &[u8]) -> Arc<SingleCertAndKey> {
    let key = sign::any_supported_type(&PrivateKeyDer::from_pem_slice(key).unwrap()).unwrap();
    Arc::new(SingleCertAndKey::from(CertifiedKey::new(certificates(chain), key)))
}

fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    for der in certificates(CA) {
        roots.add(der).unwrap();
    }
    roots
}

/// Runs the handshake until the engine has completed it or fails. Errors of the rustls peer are ignored.
fn run_handshake(engine: &mut Engine, mut peer: Connection) -> Result<()> {
    for _ in 0..10 {
        engine.handshake()?;
        let bytes = drain(engine);
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            peer.read_tls(&mut bytes).unwrap();
            let _ = peer.process_new_packets();
        }
        let mut result = Vec::new();
        while peer.wants_write() {
            peer.write_tls(&mut result).unwrap();
        }
        if result.is_empty() && !engine.is_handshaking() {
            return Ok(());
        }
        feed(engine, &result);
    }
    panic!("the handshake does not end");
}

/// A peer, client or server, must sign with the key of its certificate in TLS 1.2 and TLS 1.3. A client checks the
/// server's signature even if the client does not verify the certificate.
#[test]
fn a_peer_that_signs_with_another_key_is_refused() {
    for version in [Version::Tls12, Version::Tls13] {
        let versions: &[_] =
            if version == Version::Tls12 { &[&rustls::version::TLS12] } else { &[&rustls::version::TLS13] };
        for (mode, own_key) in [(0, true), (0, false), (2, true), (2, false)] {
            let judging = context(|options| {
                if mode == 0 {
                    options.set_check_hostname(false);
                }
                options.set_verify_mode(mode).unwrap();
            });
            let key = if own_key { SERVER_KEY } else { CLIENT_KEY };
            let server = ServerConfig::builder_with_provider(Arc::new(default_provider()))
                .with_protocol_versions(versions)
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(identity(SERVER, key));
            let server = ServerConnection::new(Arc::new(server)).unwrap();
            let mut client = Engine::client(&judging, Some("localhost")).unwrap();
            check(run_handshake(&mut client, server.into()), own_key, (version, mode));

            // A server that requests no certificate receives none.
            if mode == 0 {
                continue;
            }
            let key = if own_key { CLIENT_KEY } else { SERVER_KEY };
            let client = ClientConfig::builder_with_provider(Arc::new(default_provider()))
                .with_protocol_versions(versions)
                .unwrap()
                .with_root_certificates(roots())
                .with_client_cert_resolver(identity(CLIENT, key));
            let name = ServerName::try_from("localhost").unwrap();
            let client = ClientConnection::new(Arc::new(client), name).unwrap();
            let mut server = Engine::server(&judging).unwrap();
            check(run_handshake(&mut server, client.into()), own_key, (version, mode));
        }
    }

    fn check(outcome: Result<()>, own_key: bool, row: (Version, i32)) {
        match outcome {
            Ok(()) => assert!(own_key, "{row:?}"),
            Err(error) => {
                let facts = (error.status(), error.certificate_problem(), error.tls_alert());
                let forged = (Status::CertificateVerify, CertificateProblem::BadSignature, Some(51));
                assert!(!own_key && facts == forged, "{row:?}: {error}");
            }
        }
    }
}

/// After a HelloRetryRequest, the client sends the server name a second time. The next session on the same thread must
/// not get that name.
#[test]
fn a_server_name_sent_twice_does_not_reach_the_next_session() {
    let context = context(|_| {});
    let mut nameless = Engine::client(&context, Some("127.0.0.1")).unwrap();
    nameless.handshake().unwrap();
    let hello = drain(&mut nameless);

    let mut provider = default_provider();
    provider.kx_groups = vec![kx_group::MLKEM768, kx_group::SECP256R1];
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots())
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut server = Engine::server(&context).unwrap();
    run_handshake(&mut server, ClientConnection::new(Arc::new(config), name).unwrap().into()).unwrap();
    assert_eq!(server.connection().handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
    assert_eq!(server.server_name(), Some("localhost"));

    let mut server = Engine::server(&context).unwrap();
    let (begin, rest) = hello.split_at(hello.len() / 2);
    feed(&mut server, begin);
    server.handshake().unwrap();
    assert_eq!(server.server_name(), None);
    feed(&mut server, rest);
    server.handshake().unwrap();
    assert_eq!(server.server_name(), None);
}
