//! Tests Encrypted Client Hello: the names that an observer and a server with the key can read, and malformed
//! ECHConfigLists.

mod server;

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::*;
use crate::tls::Context;
use crate::tls::config::options::TlsOptions;
use crate::tls::credentials::pem;
use crate::tls::session::{Engine, Read, suites};
use server::{ALPN, EARLY_DATA, Hello, Keys, PRE_SHARED_KEY};

const CA: &[u8] = include_bytes!("../../../../tests/certs/ca.pem");
const CHAIN: &[u8] = include_bytes!("../../../../tests/certs/server.pem");
const KEY: &[u8] = include_bytes!("../../../../tests/certs/server.key");

/// The server names in the inner and in the outer ClientHello; the test server's certificate contains both names.
const HIDDEN: &str = "hidden.wild.test";
const PUBLIC: &str = "localhost";

/// Returns an ECHConfig of version 0xfe0d for X25519, HKDF-SHA256 and AES-128-GCM.
fn config(public_name: &str, key: &[u8]) -> Vec<u8> {
    contents(0xfe0d, 0x20, key, &[0, 1, 0, 1], public_name.as_bytes(), &[])
}

fn vector(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn contents(version: u16, kem: u8, key: &[u8], suites: &[u8], name: &[u8], extensions: &[u8]) -> Vec<u8> {
    let mut contents = vec![7, 0, kem];
    contents.extend(vector(key));
    contents.extend(vector(suites));
    contents.extend([64, u8::try_from(name.len()).unwrap()]);
    contents.extend(name);
    contents.extend(vector(extensions));
    [&version.to_be_bytes()[..], &vector(&contents)].concat()
}

fn list_of(configs: &[&[u8]]) -> Vec<u8> {
    vector(&configs.concat())
}

fn context(change: impl FnOnce(&mut TlsOptions)) -> Context {
    let mut options = TlsOptions::default();
    options.set_use_environment(false);
    options.add_ca_data(CA).unwrap();
    options.add_alpn_protocol(b"h2").unwrap();
    change(&mut options);
    Context::new(&options).unwrap()
}

/// Takes the bytes that the engine has queued for the network.
fn take_output(engine: &mut Engine) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(piece) = engine.next_output() {
        bytes.extend_from_slice(piece.bytes());
    }
    bytes
}

fn feed(engine: &mut Engine, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let mut input = engine.lend_input().unwrap();
        let count = bytes.len().min(input.space().len());
        input.space()[..count].copy_from_slice(&bytes[..count]);
        input.add(count);
        engine.take_back(input);
        bytes = &bytes[count..];
    }
}

fn hello(engine: &mut Engine) -> (Vec<u8>, Hello) {
    engine.handshake().unwrap();
    let bytes = take_output(engine);
    let hello = Hello::read(&bytes);
    (bytes, hello)
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
}

#[test]
fn only_a_server_with_the_ech_key_decrypts_the_inner_client_hello() {
    let keys = Keys::new(PUBLIC);
    let context = Arc::new(context(|_| {}).with_ech(&keys.list()).unwrap());
    let mut engine = Engine::client(&context, Some(HIDDEN)).unwrap();
    assert_eq!(engine.ech_status(), EchStatus::Offered);
    let (bytes, outer) = hello(&mut engine);
    assert!(!has(&bytes, HIDDEN) && !has(&bytes, "hidden") && !has(&bytes, "wild"));
    assert_eq!((outer.server_name(), outer.offers_tls12()), (Some(PUBLIC), false));
    let inner = outer.decrypt(&keys, &mut None).unwrap();
    assert_eq!((inner.server_name(), inner.offers_tls12()), (Some(HIDDEN), false));
    assert_eq!(inner.extension(ALPN), Some(&b"\0\x03\x02h2"[..]));
    assert!(inner.extension(EARLY_DATA).is_none() && outer.extension(EARLY_DATA).is_none());
    // A server with another key cannot decrypt the inner ClientHello.
    assert!(outer.decrypt(&Keys::new(PUBLIC), &mut None).is_none());
}

/// Completes the handshake, sends one byte of data in each direction, and returns all bytes that the client sent.
fn complete_handshake(engine: &mut Engine, mut server: ServerConnection, answer: &[u8]) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    feed(engine, answer);
    assert!(engine.handshake().unwrap());
    let mut sent = take_output(engine);
    engine.write(b"?").unwrap();
    sent.extend(take_output(engine));
    let mut rest = &sent[..];
    while !rest.is_empty() {
        server.read_tls(&mut rest).unwrap();
        server.process_new_packets().unwrap();
    }
    let mut received = [0];
    server.reader().read_exact(&mut received).unwrap();
    server.writer().write_all(b"!").unwrap();
    let mut reply = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut reply).unwrap();
    }
    feed(engine, &reply);
    let mut read = [0];
    assert_eq!(engine.read(&mut read).unwrap(), Read::Data(1));
    assert_eq!((received, read, server.server_name()), ([b'?'], [b'!'], Some(HIDDEN)));
    sent
}

#[test]
fn sessions_with_accepted_ech_are_not_resumed() {
    let keys = Keys::new(PUBLIC);
    let tickets = aws_lc_rs::Ticketer::new().unwrap();
    let base = context(|_| {});
    // Creates contexts with ECH in every possible way: derived for each connection, derived once, created from options
    // (with and without early data), and created as by urllib3's ssl_wrap_socket.
    let derived = || Arc::new(base.with_ech(&keys.list()).unwrap());
    let derived_once = derived();
    let made = Arc::new(context(|options| options.set_ech_config_list(Some(&keys.list())).unwrap()));
    let with_early_data = Arc::new(context(|options| {
        options.set_early_data(true);
        options.set_ech_config_list(Some(&keys.list())).unwrap();
    }));
    let mut options = TlsOptions::default();
    options.add_alpn_protocol(b"h2").unwrap();
    let wrapped = Context::for_socket(&options, Some(&derived_once)).unwrap();
    options.set_ech_config_list(Some(&keys.list())).unwrap();
    let overruled = Context::for_socket(&options, Some(&Arc::new(base.clone()))).unwrap();
    for context in [derived(), derived(), derived_once, made, with_early_data, wrapped, overruled]
        .iter()
        .flat_map(|made| [made, made])
    {
        let mut engine = Engine::client(context, Some(HIDDEN)).unwrap();
        let (mut sent, outer) = hello(&mut engine);
        let inner = outer.decrypt(&keys, &mut None).unwrap();
        // The server has issued tickets, but a client with ECH uses none, because rustls could send a ticket in
        // plaintext (see `ech::derived`).
        assert!(outer.extension(PRE_SHARED_KEY).is_none() && inner.extension(PRE_SHARED_KEY).is_none());
        let (server, answer) = server::accept(&inner, &tickets);
        sent.extend(complete_handshake(&mut engine, server, &answer));
        assert_eq!(engine.ech_status(), EchStatus::Accepted);
        assert_eq!((engine.server_name(), engine.connection().alpn_protocol()), (Some(HIDDEN), Some(&b"h2"[..])));
        assert_eq!(engine.connection().handshake_kind(), Some(HandshakeKind::Full));
        assert!(!has(&sent, HIDDEN));
        assert_eq!((engine.take_session().unwrap().is_none(), context.session_count()), (true, 0));
    }
    // The client ignores an acceptance confirmation that was computed over another ClientHello, because the server that
    // sent it has not decrypted the name.
    let context = Arc::new(base.with_ech(&keys.list()).unwrap());
    let (mut first, mut second) =
        (Engine::client(&context, Some(HIDDEN)).unwrap(), Engine::client(&context, Some(HIDDEN)).unwrap());
    let inner = hello(&mut first).1.decrypt(&keys, &mut None).unwrap();
    hello(&mut second);
    feed(&mut second, &server::accept(&inner, &tickets).1);
    assert!(second.handshake().is_err());
    assert_ne!(second.ech_status(), EchStatus::Accepted);
}

/// Returns a server without ECH that supports only P-384 and so sends a HelloRetryRequest.
fn ignorant_server() -> ServerConnection {
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups = vec![aws_lc_rs::kx_group::SECP384R1];
    let key = rustls_pki_types::pem::PemObject::from_pem_slice(KEY).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(pem::certificates(CHAIN, "").unwrap(), key)
        .unwrap();
    ServerConnection::new(Arc::new(config)).unwrap()
}

#[test]
fn second_client_hello_reveals_no_more_than_the_first() {
    let keys = Keys::new(PUBLIC);
    let base = context(|_| {});
    let grease = context(|options| options.set_ech_grease(true));
    // Stores a session that a context without ECH can resume.
    let plain = Arc::new(base.clone());
    let mut engine = Engine::client(&plain, Some(HIDDEN)).unwrap();
    let (server, answer) = server::answer_outer(&hello(&mut engine).1);
    complete_handshake(&mut engine, server, &answer);
    let mut engine = Engine::client(&plain, Some(HIDDEN)).unwrap();
    assert!(hello(&mut engine).1.extension(PRE_SHARED_KEY).is_some());
    for (context, status, name) in
        [(base.with_ech(&keys.list()).unwrap(), EchStatus::Rejected, PUBLIC), (grease, EchStatus::Grease, HIDDEN)]
    {
        let mut engine = Engine::client(&Arc::new(context), Some(HIDDEN)).unwrap();
        let mut server = ignorant_server();
        let (first, outer) = hello(&mut engine);
        assert!(outer.extension(PRE_SHARED_KEY).is_none() && outer.extension(EARLY_DATA).is_none());
        server.read_tls(&mut &first[..]).unwrap();
        server.process_new_packets().unwrap();
        let mut retry = Vec::new();
        server.write_tls(&mut retry).unwrap();
        feed(&mut engine, &retry);
        engine.handshake().unwrap();
        let second = take_output(&mut engine);
        let hello = Hello::read(second.strip_prefix(&[20, 3, 3, 0, 1, 1][..]).unwrap());
        assert_eq!(hello.server_name(), Some(name));
        assert!(hello.extension(PRE_SHARED_KEY).is_none() && hello.extension(EARLY_DATA).is_none());
        assert_eq!(has(&second, HIDDEN), name == HIDDEN);
        // The second ClientHello repeats the ECH extension of the first (RFC 9849 sections 6.1.6 and 6.2).
        assert_eq!(hello.extension(0xfe0d), outer.extension(0xfe0d));
        server.read_tls(&mut &second[..]).unwrap();
        server.process_new_packets().unwrap();
        let mut answer = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut answer).unwrap();
        }
        feed(&mut engine, &answer);
        let result = engine.handshake();
        assert_eq!(result.is_ok(), name == HIDDEN, "{result:?}");
        assert_eq!(engine.ech_status(), status);
        assert!(!has(&take_output(&mut engine), HIDDEN));
    }
}

#[test]
fn a_context_derived_for_ech_keeps_alpn_and_identity_and_key_log() {
    let keys = Keys::new(PUBLIC);
    let base = context(|options| options.set_identity(CHAIN, Some(KEY)).unwrap());
    let config = base.client_config(true).unwrap();
    let derived = base.with_ech(&keys.list()).unwrap().client_config(true).unwrap();
    let cipher_suites = &derived.crypto_provider().cipher_suites;
    assert_eq!(cipher_suites.iter().map(|suite| suites::is_ours(*suite)).collect::<Vec<_>>(), [true; 3]);
    assert!(Arc::ptr_eq(&config.client_auth_cert_resolver, &derived.client_auth_cert_resolver));
    assert!(Arc::ptr_eq(&config.key_log, &derived.key_log));
    assert_eq!(config.alpn_protocols, derived.alpn_protocols);
}

#[test]
fn the_ech_retry_list_equals_the_bytes_that_the_server_sent() {
    use rustls::internal::msgs::codec::Reader;
    let unknown = [&0xfe0au16.to_be_bytes()[..], &vector(b"anything")].concat();
    let known = contents(0xfe0d, 0x20, &[9; 32], &[0, 1, 0, 3, 0, 1, 0, 1], b"Public.Example", &[0, 1, 0, 2, 5, 6]);
    for configs in [&[&known[..]][..], &[&unknown, &known], &[&known, &known, &unknown]] {
        let sent = list_of(configs);
        let read = Vec::<EchConfigPayload>::read(&mut Reader::init(&sent)).unwrap();
        assert_eq!(retry_list(&read)[..], sent);
    }
}

#[test]
fn errors_for_malformed_ech_config_lists_state_the_offset() {
    let good = config(PUBLIC, &[9; 32]);
    let list = list_of(&[&good]);
    assert_eq!(ConfigList::parse(&list).unwrap().public_name.as_c_str(), c"localhost");
    // The error for a truncated list reports where the list ends; no truncated list is accepted as a complete list.
    for end in 0..list.len() {
        let error = ConfigList::parse(&list[..end]).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::InvalidArgument, Some(end)), "{end}: {error}");
    }
    // A list with one flipped bit parses, or fails with Unsupported or InvalidArgument.
    for at in 0..list.len() {
        for bit in 0..8 {
            let mut altered = list.clone();
            altered[at] ^= 1 << bit;
            if let Err(error) = ConfigList::parse(&altered) {
                let is_place = error.offset().is_some_and(|at| at <= list.len());
                assert!(
                    error.status() == Status::Unsupported || error.status() == Status::InvalidArgument && is_place
                );
            }
        }
    }
    let name = |name: &[u8]| contents(0xfe0d, 0x20, &[9; 32], &[0, 1, 0, 1], name, &[]);
    let extension = |extensions: &[u8]| contents(0xfe0d, 0x20, &[9; 32], &[0, 1, 0, 1], b"a.example", extensions);
    let old = contents(0xfe0a, 0x20, &[9; 32], &[0, 1, 0, 1], b"a.example", &[]);
    let unusable: &[(Vec<u8>, &str)] = &[
        (old.clone(), "number 1 has version 0xfe0a"),
        (
            contents(0xfe0d, 0x21, &[9; 56], &[0, 1, 0, 1], b"a.example", &[]),
            "no supported HPKE suite (KEM 0x0021, 0x0001/0x0001)",
        ),
        (
            contents(0xfe0d, 0x20, &[9; 32], &[0, 1, 0xff, 0xff], b"a.example", &[]),
            "no supported HPKE suite (KEM 0x0020, 0x0001/0xffff)",
        ),
        (contents(0xfe0d, 0x20, &[9; 31], &[0, 1, 0, 1], b"a.example", &[]), "an invalid public key (KEM 0x0020)"),
        (contents(0xfe0d, 0x20, &[0; 32], &[0, 1, 0, 1], b"a.example", &[]), "an invalid public key (KEM 0x0020)"),
        (contents(0xfe0d, 0x10, &[4; 65], &[0, 1, 0, 1], b"a.example", &[]), "an invalid public key (KEM 0x0010)"),
        (name(b"127.0.0.1"), "a public name that is not a host name"),
        (name(b"a.0x7f"), "a public name that is not a host name"),
        (name(b"a b"), "a public name that is not a host name"),
        (name(b"a_b.example"), "a public name that is not a host name"),
        (name(b"a.example."), "a public name that is not a host name"),
        (name(b"a\0.example"), "a public name that is not a host name"),
        (extension(&[0x80, 1, 0, 0]), "the mandatory extension 0x8001"),
        (extension(&[0xfe, 0x0d, 0, 0]), "the mandatory extension 0xfe0d"),
        (extension(&[0, 5, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0]), "the extension 0x0005 twice"),
    ];
    for (config, why) in unusable {
        let error = ConfigList::parse(&list_of(&[config])).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported, "{error}");
        assert!(error.message().contains(why), "{error}");
        // The parser skips an unusable configuration and selects the usable one after it.
        assert_eq!(ConfigList::parse(&list_of(&[config, &good])).unwrap().public_name.as_c_str(), c"localhost");
    }
    let many = vec![&old[..]; 6];
    let error = ConfigList::parse(&list_of(&many)).unwrap_err();
    assert!(error.message().ends_with("number 4 has version 0xfe0a; and 2 more"), "{error}");

    let mut tail = list.clone();
    tail.push(0);
    let inside = |config: &[u8]| list_of(&[config]);
    for (list, offset, why) in [
        (tail, list.len(), "bytes after its end"),
        (vec![0, 0], 2, "no configuration"),
        (inside(&contents(0xfe0d, 0x20, &[], &[0, 1, 0, 1], b"a", &[])), 9, "an empty public key"),
        (inside(&contents(0xfe0d, 0x20, &[9], &[], b"a", &[])), 12, "without cipher suites"),
        (inside(&contents(0xfe0d, 0x20, &[9], &[0, 1, 0], b"a", &[])), 17, "ends in the middle of a cipher"),
        (inside(&contents(0xfe0d, 0x20, &[9], &[0, 1, 0, 1], b"", &[])), 19, "an empty public name"),
        (
            inside(&contents(0xfe0d, 0x20, &[9], &[0, 1, 0, 1], b"a", &[0])),
            24,
            "ends in the middle of an extension's type",
        ),
        (
            inside(&contents(0xfe0d, 0x20, &[9], &[0, 1, 0, 1], b"a", &[0, 1, 0, 1])),
            27,
            "ends in the middle of an extension",
        ),
        // Configurations after a usable one must also be well-formed.
        (list_of(&[&good, &[0xfe]]), 2 + good.len() + 1, "ends in the middle of a configuration's version"),
        (b"AA!A".to_vec(), 2, "neither an ECHConfigList nor base64"),
        (b"/etc/ech.bin".to_vec(), 8, "neither an ECHConfigList nor base64"),
        (b"AAA".to_vec(), 2, "has no configuration"),
        (b"AAB".to_vec(), 2, "neither an ECHConfigList nor base64"),
        (b"A=AA".to_vec(), 1, "neither an ECHConfigList nor base64"),
        (vec![b'A'; 90_000], 87384, "more than an ECHConfigList can have"),
    ] {
        let error = ConfigList::parse(&list).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::InvalidArgument, Some(offset)), "{error}");
        assert!(error.message().contains(why), "{error}");
    }

    use base64::Engine as _;
    let padded = base64::engine::general_purpose::STANDARD.encode(&list);
    let bare = padded.trim_end_matches('=').to_owned();
    for text in [padded.clone(), bare, format!(" {padded}\r\n")] {
        assert_eq!(ConfigList::parse(text.as_bytes()).unwrap().bytes, list, "{text}");
    }
}
