//! Compares records byte by byte with those of rustls' encrypters, and tests sessions in which direct encryption is not
//! possible.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedCipherSuite, Tls13CipherSuite};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use super::*;
use crate::tls::session::pool::Pool;
use crate::tls::session::record::{Connection, Outgoing, Received, Step};
use crate::tls::session::suites;

const CA: &[u8] = include_bytes!("../../../../tests/certs/ca.pem");
const CHAIN: &[u8] = include_bytes!("../../../../tests/certs/server.pem");
const KEY: &[u8] = include_bytes!("../../../../tests/certs/server.key");

/// Returns netlib's and rustls' encrypter for AES-256-GCM, both with the same key.
fn encrypters() -> [Box<dyn MessageEncrypter>; 2] {
    let ours: &dyn Tls13AeadAlgorithm = &AES_256_GCM;
    [tls13(&TLS13_AES_256_GCM_SHA384).aead_alg, ours]
        .map(|algorithm| algorithm.encrypter(AeadKey::from([7; 32]), Iv::from([9; 12])))
}

fn message<'a>(typ: ContentType, payload: OutboundChunks<'a>) -> OutboundPlainMessage<'a> {
    OutboundPlainMessage { typ, version: ProtocolVersion::TLSv1_2, payload }
}

fn plaintext(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn buffer() -> RecordBuffer {
    Pool::default().borrow().unwrap()
}

#[test]
fn sealed_records_equal_the_records_of_rustls() {
    let [mut theirs, mut ours] = encrypters();
    let mut sealed = 0;
    for (seq, len) in [1, 2, 15, 16, 17, 1000, 16_383, 16_384, 0, 5].into_iter().enumerate() {
        let (data, seq) = (plaintext(len), seq as u64);
        for (typ, is_lent) in [(ContentType::ApplicationData, seq % 2 == 0), (ContentType::Handshake, true)] {
            // aws-lc refuses a sequence number that was used before.
            let seq = 2 * seq + u64::from(typ == ContentType::Handshake);
            let expected = theirs.encrypt(message(typ, data[..].into()), seq).unwrap().encode();
            assert_eq!(ours.encrypted_payload_len(len), theirs.encrypted_payload_len(len));
            if !is_lent {
                assert_eq!(ours.encrypt(message(typ, data[..].into()), seq).unwrap().encode(), expected);
                continue;
            }
            let mut before = buffer();
            before.add(3);
            let mut encoded = Vec::new();
            let (after, outcome) = seal(before, 1, |room| {
                assert_eq!((room.len(), ours.encrypted_payload_len(len)), (HEADER_SIZE, 0));
                encoded = ours.encrypt(message(typ, data[..].into()), seq).unwrap().encode();
                Ok(encoded.len())
            });
            let after = after.unwrap();
            if typ == ContentType::Handshake {
                // A message other than application data becomes a complete record, which does not fit into the space
                // for a placeholder.
                assert_eq!((encoded, after.bytes().len()), (expected, 3));
                assert!(matches!(outcome, Outcome::Failed));
            } else {
                assert_eq!((encoded, &after.bytes()[3..]), (vec![23, 3, 3, 0, 0], &expected[..]), "{len}");
                assert!(matches!(outcome, Outcome::Sealed));
                sealed += 1;
            }
        }
    }
    assert_eq!(sealed, 5);
}

/// rustls passes application data in one piece, but its interface allows several pieces.
#[test]
fn data_in_several_pieces_is_sealed_into_one_record() {
    let [mut theirs, mut ours] = encrypters();
    let pieces: [&[u8]; 3] = [b"data ", b"in ", b"pieces"];
    let chunks = || OutboundChunks::new(&pieces);
    let expected = theirs.encrypt(message(ContentType::ApplicationData, chunks()), 0).unwrap().encode();
    let (after, outcome) = seal(buffer(), 1, |_| {
        let placeholder = ours.encrypt(message(ContentType::ApplicationData, chunks()), 0).unwrap().encode();
        Ok(placeholder.len())
    });
    assert!(matches!(outcome, Outcome::Sealed));
    assert_eq!(after.unwrap().bytes(), expected);
}

#[test]
fn seal_fails_if_any_record_is_not_encrypted() {
    let data = plaintext(100);
    let seal_twice = |room: usize, seqs: [u64; 2]| {
        let [_, mut ours] = encrypters();
        let mut lent = buffer();
        lent.add(lent.space_len() - room);
        let (_, outcome) = seal(lent, 2, |_| {
            let mut placeholders = 0;
            for seq in seqs {
                placeholders +=
                    ours.encrypt(message(ContentType::ApplicationData, data[..].into()), seq).unwrap().encode().len();
            }
            Ok(placeholders)
        });
        outcome
    };
    assert!(matches!(seal_twice(2 * (100 + OVERHEAD), [0, 1]), Outcome::Sealed));
    assert!(matches!(seal_twice(2 * (100 + OVERHEAD) - 1, [0, 1]), Outcome::Failed));
    // The sequence number was used before.
    assert!(matches!(seal_twice(2 * (100 + OVERHEAD), [1, 1]), Outcome::Failed));
    // No record was encrypted.
    assert!(matches!(seal(buffer(), 1, |_| Ok(HEADER_SIZE)).1, Outcome::Failed));
    assert!(matches!(seal(buffer(), 1, |_| Err(EncryptFailure::KeysExhausted)).1, Outcome::KeysExhausted));
}

#[test]
fn records_are_encrypted_as_usual_after_a_panic_during_encryption() {
    let [mut theirs, mut ours] = encrypters();
    let lent = buffer();
    let panicked = catch_unwind(|| seal(lent, 1, |_| resume_unwind(Box::new("rustls' panic"))).1);
    assert!(panicked.is_err());
    let record = |encrypter: &mut Box<dyn MessageEncrypter>| {
        encrypter.encrypt(message(ContentType::ApplicationData, (&b"data"[..]).into()), 0).unwrap().encode()
    };
    assert_eq!(record(&mut ours), record(&mut theirs));
}

/// One side of a connection, with its output queue and the plaintext that it has received.
struct Peer {
    connection: Connection,
    out: Outgoing,
    received: Vec<u8>,
}

impl Peer {
    fn new(connection: Connection) -> Peer {
        Peer { connection, out: Outgoing::new(Arc::new(Pool::default())), received: Vec::new() }
    }

    fn write(&mut self, data: &[u8]) {
        assert!(self.connection.send(&mut [], data, &mut self.out).is_ok());
    }

    /// Takes all queued output out of the connection.
    fn take(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.out.pop() {
            bytes.extend_from_slice(piece.bytes());
        }
        bytes
    }

    fn receive(&mut self, mut records: Vec<u8>) {
        loop {
            let received = &mut self.received;
            let Received { consumed, outcome } = self.connection.receive(&mut records, &mut self.out, |plaintext| {
                received.extend_from_slice(plaintext);
                Ok(())
            });
            records.drain(..consumed);
            match outcome {
                Ok(Step::Blocked) => return assert!(records.is_empty()),
                Ok(_) => {}
                Err(_) => panic!("a record was refused"),
            }
        }
    }

    /// Calls [`seal`], as [`Outgoing::seal`] does.
    fn seal(&mut self, data: &[u8]) -> (Vec<u8>, Outcome) {
        let connection = &mut self.connection;
        let (buffer, outcome) =
            seal(buffer(), data.len().div_ceil(RECORD_SIZE), |room| connection.encrypt_into(data, room));
        (buffer.unwrap().bytes().to_vec(), outcome)
    }

    /// Changes the sending keys. The KeyUpdate message itself is encrypted with the old keys.
    fn renew_keys(&mut self) {
        self.connection.refresh_traffic_keys();
    }
}

/// Returns a client with these cipher suites, and a server with rustls' cipher suites.
fn pair(suites: Vec<SupportedCipherSuite>) -> (Peer, Peer) {
    let theirs = aws_lc_rs::default_provider;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CA).unwrap()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(CryptoProvider { cipher_suites: suites, ..theirs() }))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let chain = CertificateDer::pem_slice_iter(CHAIN).map(Result::unwrap).collect();
    let server = ServerConfig::builder_with_provider(Arc::new(theirs()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = Peer::new(Connection::client(Arc::new(client), name).unwrap());
    let mut server = Peer::new(Connection::server(Arc::new(server)).unwrap());
    client.receive(Vec::new());
    for _ in 0..3 {
        server.receive(client.take());
        client.receive(server.take());
    }
    assert!(!client.connection.is_handshaking() && !server.connection.is_handshaking());
    (client, server)
}

/// Returns the sizes of the records without their headers.
fn sizes(mut bytes: &[u8]) -> Vec<usize> {
    let mut sizes = Vec::new();
    while let [23, 3, 3, high, low, rest @ ..] = bytes {
        let size = usize::from(u16::from_be_bytes([*high, *low]));
        sizes.push(size);
        bytes = &rest[size..];
    }
    assert!(bytes.is_empty());
    sizes
}

/// The size of each write, and the sizes of the resulting records without their headers.
const WRITES: [(usize, &[usize]); 5] = [
    (1, &[18]),
    (16_384, &[16_401]),
    (16_385, &[16_401, 18]),
    (65_536, &[16_401, 16_401, 16_401, 16_401]),
    (100, &[117]),
];

const KEY_UPDATE: usize = 22;

#[test]
fn seal_encrypts_data_only_with_the_aes_gcm_suites_of_netlib() {
    let ours = [&suites::AES_256_GCM, &suites::AES_128_GCM].map(|suite| (SupportedCipherSuite::Tls13(suite), true));
    for (suite, is_ours) in ours.into_iter().chain([(TLS13_CHACHA20_POLY1305_SHA256, false)]) {
        let (mut client, mut server) = pair(vec![suite]);
        for (len, expected) in WRITES {
            let (records, outcome) = client.seal(&plaintext(len));
            if is_ours {
                assert!(matches!(outcome, Outcome::Sealed), "{suite:?}, {len}");
                assert_eq!(sizes(&records), expected);
                server.receive(records);
            } else {
                assert!(matches!(outcome, Outcome::NotStarted) && records.is_empty(), "{suite:?}, {len}");
                client.write(&plaintext(len));
                server.receive(client.take());
            }
            assert_eq!(std::mem::take(&mut server.received), plaintext(len), "{suite:?}, {len}");
        }
    }
}

#[test]
fn messages_queued_in_rustls_are_sent_before_data() {
    for suites in [
        vec![SupportedCipherSuite::Tls13(&suites::AES_256_GCM)],
        vec![SupportedCipherSuite::Tls13(&suites::AES_128_GCM)],
        // With a cipher suite other than AES-GCM, rustls creates the records.
        vec![TLS13_CHACHA20_POLY1305_SHA256],
    ] {
        let name = suites[0].suite();
        let (mut client, mut server) = pair(suites);
        for (len, expected) in WRITES {
            for renewed in [false, true] {
                let before = if renewed { vec![KEY_UPDATE] } else { Vec::new() };
                if renewed {
                    client.renew_keys();
                }
                client.write(&plaintext(len));
                let records = client.take();
                assert_eq!(sizes(&records), [&before, expected].concat(), "{name:?}, {len}, {renewed}");
                server.receive(records);
                assert_eq!(std::mem::take(&mut server.received), plaintext(len), "{name:?}, {len}, {renewed}");
            }
        }
    }
}

/// rustls updates keys after 2^24 records; this test uses a lower limit.
#[test]
fn keys_are_updated_when_they_reach_their_limit() {
    const LIMIT: usize = 7;
    static FEW: Tls13CipherSuite = {
        let mut suite = suites::with(&suites::AES_256_GCM, suites::AES_256_GCM.hkdf_provider, &AES_256_GCM);
        suite.common.confidentiality_limit = LIMIT as u64;
        suite
    };
    let (mut client, mut server) = pair(vec![SupportedCipherSuite::Tls13(&FEW)]);
    let (mut renewed, mut under_these_keys) = (0, 0);
    for (len, expected) in WRITES.into_iter().cycle().take(100) {
        let (mut records, outcome) = client.seal(&plaintext(len));
        under_these_keys += expected.len();
        if under_these_keys < LIMIT {
            assert!(matches!(outcome, Outcome::Sealed));
            assert_eq!(sizes(&records), expected);
        } else {
            // The KeyUpdate is the last record that is encrypted with the old keys.
            assert!(matches!(outcome, Outcome::NotStarted) && records.is_empty());
            client.write(&plaintext(len));
            records = client.take();
            assert_eq!(sizes(&records), [&[KEY_UPDATE], expected].concat());
            (renewed, under_these_keys) = (renewed + 1, expected.len());
        }
        server.receive(records);
        assert_eq!(std::mem::take(&mut server.received), plaintext(len));
    }
    assert_eq!(renewed, 39);
}
