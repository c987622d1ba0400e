//! Tests early data with a rustls server, which can accept early data, and with a netlib server, which never accepts
//! early data.

use std::io::{Read as _, Write as _};

use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::super::tests::{context, drain, feed};
use super::super::*;
use super::EarlyData;
use crate::error::{Advice, ApiName};
use crate::tls::TlsOptions;
use crate::tls::session::record::RECORD_SIZE;

/// The early data limit of the tickets.
const ALLOWED: u32 = 40_000;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

/// The server of the second handshake.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Far {
    Accepts,
    /// A server that resumes the session and rejects early data.
    Refuses,
    /// A server that does not know the ticket.
    Forgets,
    /// A server that sends a HelloRetryRequest for another group.
    Retries,
    /// A server that negotiates an application protocol other than that of the first handshake.
    OtherProtocol,
    /// A server that supports only TLS 1.2.
    Older,
}

fn client(change: impl FnOnce(&mut TlsOptions)) -> Arc<Context> {
    context(|options| {
        options.set_early_data(true);
        change(options);
    })
}

/// Returns the server configuration that issues the tickets. Clones of the configuration share its session store.
fn accepting(context: &Context) -> ServerConfig {
    let mut config = ServerConfig::clone(&context.server_config().unwrap());
    config.max_early_data_size = ALLOWED;
    config
}

fn of(far: Far, first: &ServerConfig, context: &Context) -> Server {
    let mut config = first.clone();
    match far {
        Far::Accepts => {}
        Far::Refuses => config.max_early_data_size = 0,
        Far::Forgets => config.session_storage = rustls::server::ServerSessionMemoryCache::new(10),
        Far::OtherProtocol => config.alpn_protocols = vec![b"other".to_vec()],
        Far::Retries | Far::Older => {
            let mut provider = default_provider();
            if far == Far::Retries {
                provider.kx_groups = vec![kx_group::SECP384R1];
            }
            let versions: &[_] =
                if far == Far::Older { &[&rustls::version::TLS12] } else { &[&rustls::version::TLS13] };
            let mut remade = ServerConfig::builder_with_provider(Arc::new(provider))
                .with_protocol_versions(versions)
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(context.server_config().unwrap().cert_resolver.clone());
            remade.session_storage = config.session_storage;
            remade.max_early_data_size = ALLOWED;
            config = remade;
        }
    }
    Server::new(config)
}

/// A rustls server and the data that it received.
struct Server {
    connection: ServerConnection,
    early: Vec<u8>,
    later: Vec<u8>,
}

impl Server {
    fn new(config: ServerConfig) -> Server {
        Server { connection: ServerConnection::new(Arc::new(config)).unwrap(), early: Vec::new(), later: Vec::new() }
    }

    /// Passes bytes to the server and returns the bytes that the server sends.
    fn take(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        while !bytes.is_empty() {
            self.connection.read_tls(&mut bytes).unwrap();
            let _ = self.connection.process_new_packets();
            if let Some(mut early) = self.connection.early_data() {
                early.read_to_end(&mut self.early).unwrap();
            }
            let _ = self.connection.reader().read_to_end(&mut self.later);
        }
        let mut result = Vec::new();
        while self.connection.wants_write() {
            self.connection.write_tls(&mut result).unwrap();
        }
        result
    }
}

/// Moves bytes between client and server until neither sends any. The client receives its input in several pieces.
fn complete_handshake(client: &mut Engine, server: &mut Server, piece: usize) -> Result<()> {
    loop {
        client.handshake()?;
        let sent = drain(client);
        let result = server.take(&sent);
        if sent.is_empty() && result.is_empty() {
            return Ok(());
        }
        for piece in result.chunks(piece) {
            feed(client, piece);
            client.handshake()?;
        }
        // The client receives the session tickets.
        let _ = client.peek();
    }
}

fn first_session(context: &Arc<Context>, config: &ServerConfig) {
    let mut engine = Engine::client(context, Some("localhost")).unwrap();
    assert_eq!((engine.early_data_left(), engine.write_early(REQUEST).unwrap()), (0, 0));
    let mut server = Server::new(config.clone());
    complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
    assert!(!engine.is_handshaking());
    assert_eq!((engine.early_data(), engine.early_data_left()), (EarlyData::NotSent, 0));
}

/// Writes as much early data as the ticket allows, and returns the number of bytes.
fn write_early(engine: &mut Engine, data: &[u8]) -> usize {
    let mut written = 0;
    loop {
        match engine.write_early(&data[written..]).unwrap() {
            0 => return written,
            count => written += count,
        }
    }
}

#[test]
fn only_a_server_that_accepts_early_data_receives_it() {
    use EarlyData::{Accepted, Rejected};
    for (far, outcome, kind) in [
        (Far::Accepts, Accepted, HandshakeKind::Resumed),
        (Far::Refuses, Rejected, HandshakeKind::Resumed),
        (Far::Forgets, Rejected, HandshakeKind::Full),
        (Far::Retries, Rejected, HandshakeKind::Resumed),
        (Far::OtherProtocol, Rejected, HandshakeKind::Resumed),
    ] {
        for (size, piece) in [(REQUEST.len(), usize::MAX), (REQUEST.len(), 1), (5000, usize::MAX)] {
            let row = (far, size, piece);
            let data: Vec<u8> = REQUEST.iter().copied().cycle().take(size).collect();
            let near = client(|options| {
                if far == Far::OtherProtocol {
                    options.add_alpn_protocol(b"other").unwrap();
                }
            });
            let mut first = accepting(&near);
            first.alpn_protocols.clear();
            first_session(&near, &first);

            let mut engine = Engine::client(&near, Some("localhost")).unwrap();
            let mut server = of(far, &first, &near);
            assert_eq!(engine.early_data_left(), ALLOWED as usize, "{row:?}");
            assert!(!engine.handshake().unwrap());
            assert_eq!(write_early(&mut engine, &data), size, "{row:?}");
            let facts = (engine.early_data(), engine.early_data_written(), engine.early_data_left());
            assert_eq!(facts, (EarlyData::Undecided, size, ALLOWED as usize - size), "{row:?}");
            assert!(engine.is_handshaking() && engine.write(b"").unwrap() == 0);

            complete_handshake(&mut engine, &mut server, piece).unwrap();
            assert!(!engine.is_handshaking() && !server.connection.is_handshaking(), "{row:?}");
            assert_eq!(engine.connection().handshake_kind(), Some(kind), "{row:?}");
            let facts = (engine.early_data(), engine.early_data_written(), engine.early_data_left());
            assert_eq!(facts, (outcome, size, 0), "{row:?}");
            assert_eq!(engine.write_early(&data).unwrap(), 0);
            // netlib does not repeat rejected data.
            let seen = if outcome == Accepted { &data[..] } else { &[] };
            assert_eq!((&server.early[..], &server.later[..]), (seen, &[][..]), "{row:?}");

            // The session continues, whether the early data was accepted or rejected.
            assert_eq!(engine.write(b"later").unwrap(), 5);
            let sent = drain(&mut engine);
            server.take(&sent);
            assert_eq!(server.later, b"later", "{row:?}");
            server.connection.writer().write_all(b"answer").unwrap();
            let result = server.take(&[]);
            feed(&mut engine, &result);
            let mut room = [0; 10];
            assert_eq!((engine.read(&mut room).unwrap(), &room[..6]), (Read::Data(6), &b"answer"[..]), "{row:?}");
        }
    }
}

/// The last record of a client's certificate chain may have the size of an EndOfEarlyData record.
#[test]
fn a_short_record_of_a_certificate_chain_is_not_taken_for_end_of_early_data() {
    let leaf = crate::tls::credentials::pem::certificates(include_bytes!("../../../../../tests/certs/rsa.pem"), "")
        .unwrap()
        .remove(0);
    // The client's Certificate, CertificateVerify (with a signature of 256 bytes) and Finished messages fill one
    // record, and four bytes of the next record.
    let rest = RECORD_SIZE + 4 - (4 + 4 + 5 + leaf.len() + 5) - (4 + 4 + 256) - (4 + 32);
    let [high, low] = u16::try_from(rest - 4).unwrap().to_be_bytes();
    let filler = [&[0x30, 0x82, high, low][..], &vec![0; rest - 4]].concat();
    let near = client(|options| {
        let chain = [leaf.as_ref(), &filler].concat();
        options.set_identity(&chain, Some(include_bytes!("../../../../../tests/certs/rsa.key"))).unwrap();
    });
    let plain_context = context(|_| {});
    first_session(&near, &accepting(&plain_context));

    let mut engine = Engine::client(&near, Some("localhost")).unwrap();
    let asking = context(|options| options.set_verify_mode(2).unwrap());
    let mut server = Server::new(accepting(&asking));
    engine.handshake().unwrap();
    assert_eq!(write_early(&mut engine, REQUEST), REQUEST.len());
    let sent = drain(&mut engine);
    feed(&mut engine, &server.take(&sent));
    assert!(engine.handshake().unwrap());
    let sent = drain(&mut engine);
    let mut rest = &sent[..];
    let mut lengths = Vec::new();
    while let Some(size) = record::whole_record(rest) {
        lengths.push(size);
        rest = &rest[size..];
    }
    assert_eq!(lengths, [RECORD_SIZE + 22, 26]);
    assert_eq!(engine.early_data(), EarlyData::Rejected);
}

/// Early data may be written in any number of calls, before or after the ClientHello is sent.
#[test]
fn early_data_beyond_the_limit_of_the_ticket_is_not_written() {
    let near = client(|_| {});
    let first = accepting(&near);
    first_session(&near, &first);
    let mut engine = Engine::client(&near, Some("localhost")).unwrap();
    let mut server = of(Far::Accepts, &first, &near);
    assert!(!engine.handshake().unwrap());
    let hello = drain(&mut engine);
    let data = vec![7; ALLOWED as usize + 1];
    assert_eq!(engine.write_early(&data[..1]).unwrap(), 1);
    assert_eq!(write_early(&mut engine, &data), ALLOWED as usize - 1);
    assert_eq!((engine.early_data_left(), engine.write_early(&data).unwrap()), (0, 0));
    let result = server.take(&hello);
    feed(&mut engine, &result);
    complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
    assert_eq!((engine.early_data(), server.early.len()), (EarlyData::Accepted, ALLOWED as usize));
    assert_eq!(write_early(&mut engine, &data), 0);
}

/// If the application sets a session, the limit of that session applies, not the limit of the session in the store.
#[test]
fn a_session_set_by_the_application_determines_the_early_data_limit() {
    for (allowed, remembered) in [(ALLOWED, 0), (0, ALLOWED), (ALLOWED, 100)] {
        let row = (allowed, remembered);
        let near = client(|_| {});
        let mut first = accepting(&near);
        first.max_early_data_size = allowed;
        let mut engine = Engine::client(&near, Some("localhost")).unwrap();
        let mut server = Server::new(first.clone());
        complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
        let saved = Arc::new(engine.take_session().unwrap().unwrap());
        near.forget_sessions();
        first.max_early_data_size = remembered;
        first_session(&near, &first);

        let mut engine = Engine::client(&near, Some("localhost")).unwrap();
        assert_eq!(engine.early_data_left(), remembered as usize, "{row:?}");
        engine.set_session(Some(&saved)).unwrap();
        assert_eq!(engine.early_data_left(), allowed as usize, "{row:?}");
        // A call that refuses a session changes nothing.
        assert_eq!(engine.set_session(Some(&saved)).unwrap_err().status(), Status::InvalidArgument);
        assert_eq!(engine.early_data_left(), allowed as usize, "{row:?}");
        first.max_early_data_size = ALLOWED;
        let mut server = of(Far::Accepts, &first, &near);
        assert!(!engine.handshake().unwrap());
        let written = write_early(&mut engine, REQUEST);
        assert_eq!(written, if allowed > 0 { REQUEST.len() } else { 0 }, "{row:?}");
        complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
        let outcome = if allowed > 0 { EarlyData::Accepted } else { EarlyData::NotSent };
        assert_eq!((engine.early_data(), &server.early[..]), (outcome, &REQUEST[..written]), "{row:?}");
        assert_eq!(engine.connection().handshake_kind(), Some(HandshakeKind::Resumed), "{row:?}");
        assert_eq!(engine.set_session(Some(&saved)).unwrap_err().status(), Status::InvalidArgument);
    }
}

/// The early_data extension is sent even if no early data is written.
#[test]
fn the_handshake_completes_if_no_early_data_is_written() {
    for far in [Far::Accepts, Far::Refuses, Far::Retries] {
        let near = client(|_| {});
        let first = accepting(&near);
        first_session(&near, &first);
        let mut engine = Engine::client(&near, Some("localhost")).unwrap();
        let mut server = of(far, &first, &near);
        complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
        assert!(!engine.is_handshaking());
        assert_eq!((engine.early_data(), engine.early_data_left()), (EarlyData::NotSent, 0), "{far:?}");
    }
}

/// After a HelloRetryRequest the client sends no more early data.
#[test]
fn a_hello_retry_request_causes_rejection_of_early_data() {
    let near = client(|_| {});
    let first = accepting(&near);
    first_session(&near, &first);
    let mut engine = Engine::client(&near, Some("localhost")).unwrap();
    let mut server = of(Far::Retries, &first, &near);
    engine.handshake().unwrap();
    assert_eq!(write_early(&mut engine, REQUEST), REQUEST.len());
    let sent = drain(&mut engine);
    let retry = server.take(&sent);
    feed(&mut engine, &retry);
    assert!(!engine.handshake().unwrap());
    assert_eq!((engine.early_data(), engine.early_data_left()), (EarlyData::Rejected, 0));
    assert_eq!(engine.write_early(REQUEST).unwrap(), 0);
    complete_handshake(&mut engine, &mut server, usize::MAX).unwrap();
    assert_eq!((engine.early_data(), server.early.len()), (EarlyData::Rejected, 0));
}

#[test]
fn a_tls_1_2_answer_to_an_early_data_offer_fails_the_handshake() {
    let near = client(|_| {});
    let first = accepting(&near);
    first_session(&near, &first);
    let mut engine = Engine::client(&near, Some("localhost")).unwrap();
    let mut server = of(Far::Older, &first, &near);
    engine.handshake().unwrap();
    assert_eq!(write_early(&mut engine, REQUEST), REQUEST.len());
    let error = complete_handshake(&mut engine, &mut server, usize::MAX).unwrap_err();
    assert_eq!(
        (error.status(), error.message(), error.advice()),
        (
            Status::TlsIncompatible,
            "the server \"localhost\" answered an offer of early data with TLS 1.2, which has none",
            Some(&Advice::with_usage("to offer no early data", ApiName::SetEarlyData, " with 0"))
        )
    );
    // The client does not know whether the server has received the early data.
    assert_eq!((engine.early_data(), engine.early_data_left()), (EarlyData::Undecided, 0));
}

#[test]
fn early_data_needs_a_server_name_tls_1_3_and_the_early_data_option() {
    let near = client(|_| {});
    let first = accepting(&near);
    for change in [
        (|options| options.set_early_data(false)) as fn(&mut TlsOptions),
        // Tickets of TLS 1.2 allow no early data.
        |options| options.set_maximum_version(0x0303).unwrap(),
    ] {
        let near = client(change);
        for _ in 0..2 {
            first_session(&near, &first);
        }
    }
    // A connection without a server name resumes no session.
    let nameless = client(|options| options.set_check_hostname(false));
    first_session(&nameless, &first);
    let engine = Engine::client(&nameless, None).unwrap();
    assert_eq!(engine.early_data_left(), 0);
}

/// A netlib server skips up to 16 KiB of early data, which is the limit that rustls sets. rustls counts a record
/// towards this limit each time that it processes input that contains the record.
#[test]
fn a_netlib_server_skips_at_most_16_kib_of_early_data() {
    for (size, expected) in [(1, Ok(())), (5000, Ok(())), (17_000, Err(Status::TlsProtocol))] {
        let near = client(|_| {});
        let first = accepting(&near);
        first_session(&near, &first);
        let mut client = Engine::client(&near, Some("localhost")).unwrap();
        let mut server = Engine::server(&near).unwrap();
        client.handshake().unwrap();
        assert_eq!(write_early(&mut client, &vec![7; size]), size);
        let mut failure = Ok(());
        for _ in 0..4 {
            let sent = drain(&mut client);
            let mut rest = &sent[..];
            while !rest.is_empty() && failure.is_ok() {
                rest = &rest[feed(&mut server, rest)..];
                failure = server.handshake().map(|_| ());
            }
            feed(&mut client, &drain(&mut server));
            let _ = client.handshake();
        }
        assert_eq!(failure.map_err(|error| error.status()), expected, "{size}");
        assert_eq!((server.early_data(), server.early_data_left()), (EarlyData::NotSent, 0));
        if expected.is_ok() {
            assert_eq!((client.is_handshaking(), server.is_handshaking()), (false, false));
            assert_eq!(client.connection().handshake_kind(), Some(HandshakeKind::Resumed));
            assert_eq!(client.early_data(), EarlyData::Rejected);
            // The application sends the request again after the handshake.
            client.write(REQUEST).unwrap();
            feed(&mut server, &drain(&mut client));
            let mut room = [0; 100];
            assert_eq!(server.read(&mut room).unwrap(), Read::Data(REQUEST.len()));
        }
    }
}

#[test]
fn early_data_needs_resumption_and_at_most_one_alpn_protocol() {
    for (protocols, resumption, expected) in [
        (0, true, None),
        (1, true, None),
        (
            2,
            true,
            Some("early data is sent before an ALPN protocol is negotiated, and several protocols are offered"),
        ),
        (1, false, Some("early data needs resumption, which is off")),
    ] {
        let mut options = TlsOptions::default();
        options.set_use_environment(false);
        options.set_system_trust(false);
        options.set_embedded_trust(true);
        options.set_early_data(true);
        options.set_resumption(resumption);
        for protocol in 0..protocols {
            options.add_alpn_protocol(format!("p{protocol}").as_bytes()).unwrap();
        }
        let refused = Context::new(&options).err();
        let facts = refused.as_ref().map(|error| (error.status(), error.message()));
        assert_eq!(facts, expected.map(|message| (Status::InvalidArgument, message)));
    }
}
