//! A test server for Encrypted Client Hello, which rustls 0.23 does not implement for servers. The server decrypts the
//! inner ClientHello, lets a rustls server answer it, and writes the acceptance confirmation into the ServerHello's
//! random. Because the acceptance confirmation is computed from the ServerHello, the rustls server runs twice, with the
//! same random bytes and keys. The test server follows RFC 9849 and shares no code with the client.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use rustls::crypto::aws_lc_rs::hpke::DH_KEM_X25519_HKDF_SHA256_AES_128 as SUITE;
use rustls::crypto::aws_lc_rs::{self, kx_group::X25519};
use rustls::crypto::hpke::{EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SecureRandom, SupportedKxGroup};
use rustls::{NamedGroup, ServerConfig, ServerConnection, SupportedCipherSuite, Tls13CipherSuite};

const SIGNED_WITH: SupportedCipherSuite = aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384;

const ECH: u16 = 0xfe0d;
const OUTER_EXTENSIONS: u16 = 0xfd00;
pub(crate) const SERVER_NAME: u16 = 0;
pub(crate) const ALPN: u16 = 16;
pub(crate) const PRE_SHARED_KEY: u16 = 41;
pub(crate) const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;

/// The server's ECH key.
pub(crate) struct Keys {
    pub(crate) config: Vec<u8>,
    secret: HpkePrivateKey,
}

impl Keys {
    pub(crate) fn new(public_name: &str) -> Keys {
        let (public, secret) = SUITE.generate_key_pair().unwrap();
        Keys { config: super::config(public_name, &public.0), secret }
    }

    pub(crate) fn list(&self) -> Vec<u8> {
        super::list_of(&[&self.config])
    }
}

/// A ClientHello message and the offsets of its fields.
#[derive(Clone)]
pub(crate) struct Hello {
    pub(crate) message: Vec<u8>,
    random: Range<usize>,
    session_id: Range<usize>,
    /// The cipher suites and compression methods, with their length fields.
    choices: Range<usize>,
    pub(crate) extensions: Vec<(u16, Range<usize>)>,
    end: usize,
}

impl Hello {
    /// Parses the ClientHello in plaintext handshake records.
    pub(crate) fn read(records: &[u8]) -> Hello {
        let mut message = Vec::new();
        let mut rest = records;
        while let [22, _, _, high, low, after @ ..] = rest {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            message.extend_from_slice(&after[..length]);
            rest = &after[length..];
        }
        assert_eq!(message[0], 1, "a ClientHello");
        Hello::parse(message)
    }

    fn parse(message: Vec<u8>) -> Hello {
        let number = |at: usize| usize::from(u16::from_be_bytes([message[at], message[at + 1]]));
        let session_id = 39..39 + usize::from(message[38]);
        let suites = session_id.end;
        let compression = suites + 2 + number(suites);
        let choices = suites..compression + 1 + usize::from(message[compression]);
        let mut at = choices.end + 2;
        let end = at + number(choices.end);
        let mut extensions = Vec::new();
        while at < end {
            let kind = u16::try_from(number(at)).unwrap();
            extensions.push((kind, at + 4..at + 4 + number(at + 2)));
            at += 4 + number(at + 2);
        }
        Hello { random: 6..38, session_id, choices, extensions, end, message }
    }

    pub(crate) fn extension(&self, kind: u16) -> Option<&[u8]> {
        let (_, place) = self.extensions.iter().find(|(found, _)| *found == kind)?;
        Some(&self.message[place.clone()])
    }

    pub(crate) fn server_name(&self) -> Option<&str> {
        let list = self.extension(SERVER_NAME)?;
        Some(std::str::from_utf8(&list[5..]).unwrap())
    }

    /// Returns true if supported_versions contains TLS 1.2.
    pub(crate) fn offers_tls12(&self) -> bool {
        self.extension(SUPPORTED_VERSIONS).unwrap()[1..].chunks(2).any(|version| version == [3, 3])
    }

    /// Decrypts the inner ClientHello. Returns `None` if the client encrypted the ClientHello for another key. The
    /// first ClientHello of a session sets `opener`; the second ClientHello reuses the opener (RFC 9849 section 6.1.5).
    pub(crate) fn decrypt(&self, keys: &Keys, opener: &mut Option<Box<dyn HpkeOpener>>) -> Option<Hello> {
        let (_, place) = self.extensions.iter().find(|(kind, _)| *kind == ECH).unwrap();
        let extension = &self.message[place.clone()];
        assert_eq!(extension[0], 0, "of the outer kind");
        assert_eq!(extension[1..5], [0, 1, 0, 1], "HKDF-SHA256, AES-128-GCM");
        if extension[5] != keys.config[4] {
            return None;
        }
        let encapsulated = 8..8 + usize::from(u16::from_be_bytes([extension[6], extension[7]]));
        let payload = encapsulated.end + 2;
        let mut aad = self.message[4..].to_vec();
        aad[place.start - 4 + payload..place.end - 4].fill(0);
        if opener.is_none() {
            let info = [&b"tls ech\0"[..], &keys.config].concat();
            let encapsulated = EncapsulatedSecret(extension[encapsulated].to_vec());
            *opener = Some(SUITE.setup_opener(&encapsulated, &info, &keys.secret).unwrap());
        } else {
            assert!(encapsulated.is_empty(), "the second one has no key of its own");
        }
        let inner = opener.as_mut().unwrap().open(&aad, &extension[payload..]).ok()?;
        Some(self.decode_inner(&inner))
    }

    /// Decodes an EncodedClientHelloInner (RFC 9849 section 5.1): removes the padding and copies the referenced outer
    /// extensions.
    fn decode_inner(&self, encoded: &[u8]) -> Hello {
        let encoded = Hello::parse([&[1, 0, 0, 0], encoded].concat());
        assert_eq!(encoded.session_id.len(), 0);
        let padding = &encoded.message[encoded.end..];
        assert!(padding.iter().all(|byte| *byte == 0) && (encoded.message.len() - 4).is_multiple_of(32), "padded");
        let mut extensions = Vec::new();
        let mut put = |kind: u16, body: &[u8]| {
            extensions.extend_from_slice(&kind.to_be_bytes());
            extensions.extend_from_slice(&u16::try_from(body.len()).unwrap().to_be_bytes());
            extensions.extend_from_slice(body);
        };
        for (kind, place) in &encoded.extensions {
            let body = &encoded.message[place.clone()];
            if *kind != OUTER_EXTENSIONS {
                put(*kind, body);
                continue;
            }
            for kind in body[1..].chunks(2).map(|kind| u16::from_be_bytes([kind[0], kind[1]])) {
                assert_ne!(kind, ECH);
                put(kind, self.extension(kind).expect("what it takes is there"));
            }
        }
        let session_id = &self.message[self.session_id.clone()];
        let mut message = encoded.message[..38].to_vec();
        message.push(u8::try_from(session_id.len()).unwrap());
        message.extend_from_slice(session_id);
        message.extend_from_slice(&encoded.message[encoded.choices.clone()]);
        message.extend_from_slice(&u16::try_from(extensions.len()).unwrap().to_be_bytes());
        message.extend_from_slice(&extensions);
        let length = u32::try_from(message.len() - 4).unwrap().to_be_bytes();
        message[1..4].copy_from_slice(&length[1..]);
        let whole = Hello::parse(message);
        assert_eq!(whole.extension(ECH), Some(&[1][..]), "of the inner kind");
        whole
    }

    fn record(&self) -> Vec<u8> {
        let length = u16::try_from(self.message.len()).unwrap().to_be_bytes();
        [&[22, 3, 1][..], &length, &self.message].concat()
    }
}

/// A random number generator that records its output and can replay it.
#[derive(Debug, Default)]
struct RecordedRandom {
    fills: Mutex<(Vec<Vec<u8>>, Option<usize>)>,
}

impl RecordedRandom {
    /// Replays the recorded bytes from the start, with `confirmation` in the last 8 bytes of the ServerHello's random.
    fn rewind(&self, confirmation: &[u8]) {
        let mut fills = self.fills.lock().unwrap();
        let random = fills.0.iter_mut().find(|fill| fill.len() == 32).unwrap();
        random[24..].copy_from_slice(confirmation);
        fills.1 = Some(0);
    }
}

impl SecureRandom for RecordedRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        let mut fills = self.fills.lock().unwrap();
        if let Some(next) = fills.1
            && let Some(fill) = fills.0.get(next)
        {
            bytes.copy_from_slice(fill);
            fills.1 = Some(next + 1);
            return Ok(());
        }
        aws_lc_rs::default_provider().secure_random.fill(bytes)?;
        if fills.1.is_none() {
            fills.0.push(bytes.to_vec());
        }
        Ok(())
    }
}

/// An X25519 key exchange that returns the result of its first exchange every time.
#[derive(Debug, Default)]
struct RepeatedKeyExchange(Mutex<Option<(Vec<u8>, Vec<u8>)>>);

impl SupportedKxGroup for RepeatedKeyExchange {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        X25519.start()
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, rustls::Error> {
        let mut first = self.0.lock().unwrap();
        if first.is_none() {
            let made = X25519.start_and_complete(peer)?;
            *first = Some((made.pub_key, made.secret.secret_bytes().to_vec()));
        }
        let (pub_key, secret) = first.clone().unwrap();
        Ok(CompletedKeyExchange { group: NamedGroup::X25519, pub_key, secret: secret.into() })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Accepts ECH: returns a server that has answered the inner ClientHello, and the bytes of its answer. The server
/// encrypts session tickets with `tickets`.
pub(crate) fn accept(
    inner: &Hello,
    tickets: &Arc<dyn rustls::server::ProducesTickets>,
) -> (ServerConnection, Vec<u8>) {
    // The fields of rustls' CryptoProvider are `'static` references.
    let (random_source, group): (&'static RecordedRandom, &'static RepeatedKeyExchange) =
        (Box::leak(Box::default()), Box::leak(Box::default()));
    let config = server_config(random_source, group, tickets);
    let (_, answer) = serve(&config, inner);
    let length = usize::from(u16::from_be_bytes([answer[3], answer[4]]));
    random_source.rewind(&confirmation(SIGNED_WITH.tls13().unwrap(), inner, &answer[5..5 + length]));
    serve(&config, inner)
}

/// Rejects ECH: returns a server that has answered the outer ClientHello, and the bytes of its answer.
pub(crate) fn answer_outer(hello: &Hello) -> (ServerConnection, Vec<u8>) {
    let random = aws_lc_rs::default_provider().secure_random;
    serve(&server_config(random, X25519, &aws_lc_rs::Ticketer::new().unwrap()), hello)
}

fn server_config(
    random: &'static dyn SecureRandom,
    group: &'static dyn SupportedKxGroup,
    tickets: &Arc<dyn rustls::server::ProducesTickets>,
) -> Arc<ServerConfig> {
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites = vec![SIGNED_WITH];
    provider.kx_groups = vec![group];
    provider.secure_random = random;
    let chain = crate::tls::credentials::pem::certificates(super::CHAIN, "").unwrap();
    let key = rustls_pki_types::pem::PemObject::from_pem_slice(super::KEY).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.ticketer = Arc::clone(tickets);
    Arc::new(config)
}

fn serve(config: &Arc<ServerConfig>, inner: &Hello) -> (ServerConnection, Vec<u8>) {
    let mut server = ServerConnection::new(Arc::clone(config)).unwrap();
    server.read_tls(&mut &inner.record()[..]).unwrap();
    server.process_new_packets().unwrap();
    let mut answer = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut answer).unwrap();
    }
    (server, answer)
}

/// Returns the acceptance confirmation (RFC 9849 section 7.2).
fn confirmation(suite: &Tls13CipherSuite, inner: &Hello, server_hello: &[u8]) -> [u8; 8] {
    let mut unsigned = server_hello.to_vec();
    unsigned[30..38].fill(0);
    let mut transcript = suite.common.hash_provider.start();
    transcript.update(&inner.message);
    transcript.update(&unsigned);
    let hash = transcript.finish();
    let label = b"tls13 ech accept confirmation";
    let lengths =
        [&[0, 8, u8::try_from(label.len()).unwrap()][..], label, &[u8::try_from(hash.as_ref().len()).unwrap()]];
    let random = &inner.message[inner.random.clone()];
    let mut confirmation = [0; 8];
    suite
        .hkdf_provider
        .extract_from_secret(None, random)
        .expand_slice(&[&lengths.concat(), hash.as_ref()], &mut confirmation)
        .unwrap();
    confirmation
}
