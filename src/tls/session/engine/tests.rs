//! Tests two engines that are connected in memory, and controls every byte between them.

mod failures;
mod rustls_peers;

use super::*;
use crate::tls::TlsOptions;
use crate::tls::config::Version;
use crate::tls::session::peer_request::CertificateSelection;
use crate::tls::session::suites;

pub(crate) const CA: &[u8] = include_bytes!("../../../../tests/certs/ca.pem");
const CHAIN: &[u8] = include_bytes!("../../../../tests/certs/server.pem");
const KEY: &[u8] = include_bytes!("../../../../tests/certs/server.key");

pub(crate) fn context(change: impl FnOnce(&mut TlsOptions)) -> Arc<Context> {
    let mut options = TlsOptions::default();
    options.set_use_environment(false);
    options.add_ca_data(CA).unwrap();
    options.set_identity(CHAIN, Some(KEY)).unwrap();
    change(&mut options);
    Arc::new(Context::new(&options).unwrap())
}

pub(crate) fn pair(context: &Arc<Context>) -> (Engine, Engine) {
    (Engine::client(context, Some("localhost")).unwrap(), Engine::server(context).unwrap())
}

/// Takes all queued output out of the engine.
pub(crate) fn drain(engine: &mut Engine) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(piece) = engine.next_output() {
        bytes.extend_from_slice(piece.bytes());
    }
    bytes
}

/// Feeds as many bytes as there is space for, and returns the number of bytes.
pub(crate) fn feed(engine: &mut Engine, bytes: &[u8]) -> usize {
    let mut input = engine.lend_input().unwrap();
    let count = bytes.len().min(input.space().len());
    input.space()[..count].copy_from_slice(&bytes[..count]);
    input.add(count);
    engine.take_back(input);
    count
}

/// Performs the handshake, and passes `step` bytes at a time from one engine to the other.
pub(crate) fn complete_handshake(client: &mut Engine, server: &mut Engine, step: usize) {
    for _ in 0..10 {
        for turn in 0..2 {
            let (from, to) = if turn == 0 { (&mut *client, &mut *server) } else { (&mut *server, &mut *client) };
            from.handshake().unwrap();
            for piece in drain(from).chunks(step) {
                let mut rest = piece;
                while !rest.is_empty() {
                    rest = &rest[feed(to, rest)..];
                    to.handshake().unwrap();
                }
            }
        }
        if !client.is_handshaking() && !server.is_handshaking() {
            return;
        }
    }
    panic!("the handshake does not end");
}

fn read_all(engine: &mut Engine, room: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; room];
    while let Read::Data(count) = engine.read(&mut buffer).unwrap() {
        bytes.extend_from_slice(&buffer[..count]);
    }
    bytes
}

fn random_bytes(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn handshakes_complete_with_input_in_pieces_of_any_size() {
    for version in [Version::Tls12, Version::Tls13] {
        let context = context(|options| {
            options.minimum_version = version;
            options.maximum_version = version;
        });
        for step in [1, 7, 1000, usize::MAX] {
            let (mut client, mut server) = pair(&context);
            complete_handshake(&mut client, &mut server, step);
            let state = client.connection();
            assert_eq!(state.protocol_version().and_then(Version::from_rustls), Some(version));
            client.write(b"ping").unwrap();
            feed(&mut server, &drain(&mut client));
            assert_eq!(read_all(&mut server, 100), b"ping", "{version:?} by {step}");
        }
    }
}

/// rustls reports close_notify only once, possibly during a write. The next read must still return the end of the data.
#[test]
fn a_read_returns_end_after_a_close_notify_that_came_with_the_handshake() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    client.handshake().unwrap();
    feed(&mut server, &drain(&mut client));
    server.handshake().unwrap();
    feed(&mut client, &drain(&mut server));
    assert!(client.handshake().unwrap());
    client.write(b"brief").unwrap();
    client.close().unwrap();
    feed(&mut server, &drain(&mut client));
    assert!(server.handshake().unwrap());
    let mut room = [0; 100];
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(5));
    server.write(b"answer").unwrap();
    assert_eq!(server.read(&mut room).unwrap(), Read::End);
}

#[test]
fn reads_with_small_and_large_buffers_return_all_plaintext() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    let sent = random_bytes(150_000);
    for room in [1000, 16_384, 16_385, 40_000, 100_000] {
        let (mut written, mut received) = (0, Vec::new());
        while written < sent.len() {
            written += client.write(&sent[written..]).unwrap();
            let records = drain(&mut client);
            let mut at = 0;
            while at < records.len() {
                at += feed(&mut server, &records[at..]);
                received.extend(read_all(&mut server, room));
            }
        }
        assert_eq!(received, sent, "room {room}");
    }
    // No plaintext is left, so the engine holds no buffer.
    assert!(server.incoming.is_none() && server.pending_plaintext.is_none() && client.outgoing.is_empty());
}

#[test]
fn one_write_sends_several_records_and_one_read_returns_them() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    assert_eq!(client.write(&random_bytes(100_000)).unwrap(), record::WRITE_SIZE);
    let piece = client.next_output().unwrap();
    assert!(!client.has_output());
    feed(&mut server, piece.bytes());
    let mut room = vec![0; 100_000];
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(record::WRITE_SIZE));
}

#[test]
fn pending_counts_the_plaintext_that_reads_return_without_new_input() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    client.write(&[b'x'; 20_000]).unwrap();
    let records = drain(&mut client);
    feed(&mut server, &records[..records.len() - 1]);
    assert_eq!(server.pending(), 16_384);
    let mut room = [0; 16_000];
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(16_000));
    assert_eq!(server.pending(), 384);
    assert_eq!(server.read(&mut room).unwrap(), Read::Data(384));
    assert_eq!(server.pending(), 0);
    feed(&mut server, &records[records.len() - 1..]);
    assert_eq!(server.pending(), 20_000 - 16_384);
}

/// rustls must see the first fragments of a handshake message in every call until the message is complete. A write
/// between two fragments passes the first fragments to rustls, even while the input buffer is lent to a reader.
#[test]
fn data_can_be_written_between_two_fragments_of_a_ticket() {
    let context = context(|_| {});
    for step in [1, 3, 50] {
        for lent in [false, true] {
            let mut config = (*context.server_config().unwrap()).clone();
            config.max_fragment_size = Some(64);
            let session = Connection::server(Arc::new(config)).unwrap();
            let mut server = Engine::new(&context, session, true, None);
            let mut client = Engine::client(&context, Some("localhost")).unwrap();
            // Feeds all messages up to the client's last flight, which the server answers with session tickets.
            feed(&mut server, &{
                client.handshake().unwrap();
                drain(&mut client)
            });
            server.handshake().unwrap();
            feed(&mut client, &drain(&mut server));
            assert!(client.handshake().unwrap());
            feed(&mut server, &drain(&mut client));
            assert!(server.handshake().unwrap());
            let tickets = drain(&mut server);
            assert!(tickets.len() > 200);

            let mut unconsumed = 0;
            for piece in tickets.chunks(step) {
                feed(&mut client, piece);
                assert_eq!(client.read(&mut [0; 10]).unwrap(), Read::Blocked);
                unconsumed = unconsumed.max(client.unconsumed);
                let input = lent.then(|| client.lend_input().unwrap());
                client.write(b"x").unwrap();
                if let Some(input) = input {
                    client.take_back(input);
                }
            }
            assert!(unconsumed > 64, "a fragment was held");
            let sent = drain(&mut client);
            feed(&mut server, &sent);
            assert_eq!(read_all(&mut server, 5000).len(), tickets.chunks(step).count());
            server.write(b"y").unwrap();
            feed(&mut client, &drain(&mut server));
            assert_eq!(read_all(&mut client, 10), b"y");
        }
    }
}

#[test]
fn a_write_does_not_decrypt_received_records() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    server.write(b"one").unwrap();
    server.write(b"two").unwrap();
    feed(&mut client, &drain(&mut server));
    client.write(b"a").unwrap();
    assert_eq!(client.read(&mut [0; 3]).unwrap(), Read::Data(3));
    client.write(b"b").unwrap();
    assert_eq!(read_all(&mut client, 100), b"two");
    feed(&mut server, &drain(&mut client));
    assert_eq!(read_all(&mut server, 100), b"ab");
}

#[test]
fn data_sent_by_both_sides_around_a_key_update_is_decrypted() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    read_all(&mut client, 10);
    for round in 0..5 {
        assert_eq!(server.read(&mut [0; 1]).unwrap(), Read::Blocked);
        server.connection.refresh_traffic_keys();
        // The client sends this data before it receives the server's KeyUpdate. The client answers with its own
        // KeyUpdate before it sends its next data.
        client.write(b"old keys").unwrap();
        server.write(b"new keys").unwrap();
        feed(&mut client, &drain(&mut server));
        assert_eq!(read_all(&mut client, 100), b"new keys", "round {round}");
        client.write(b", then new").unwrap();
        feed(&mut server, &drain(&mut client));
        assert_eq!(read_all(&mut server, 100), b"old keys, then new");
    }
}

/// Once all input is processed, a read does not call rustls, because rustls would only report that it needs input. The
/// test checks that such reads miss nothing, for many kinds of input, sizes of pieces and sizes of read buffers.
#[test]
fn reads_that_do_not_call_rustls_miss_no_data() {
    let random = random_bytes(100_000);
    for version in [Version::Tls12, Version::Tls13] {
        let context = context(|options| options.set_maximum_version(version as i32).unwrap());
        for round in 0..30 {
            let mut random = random[round * 1000..].iter().map(|byte| usize::from(*byte));
            let mut next = |evict: usize| (random.next().unwrap() * 256 + random.next().unwrap()) % evict;
            let (mut client, mut server) = pair(&context);
            complete_handshake(&mut client, &mut server, usize::MAX);
            let (mut wire, mut said) = (Vec::new(), Vec::new());
            for _ in 0..next(12) {
                match next(4) {
                    0 if version == Version::Tls13 => {
                        assert_eq!(server.read(&mut [0; 1]).unwrap(), Read::Blocked);
                        server.connection.refresh_traffic_keys();
                        server.write(b"-").unwrap();
                        said.push(b'-');
                    }
                    1 => {
                        let data = random_bytes(next(40_000));
                        server.write(&data).unwrap();
                        said.extend_from_slice(&data);
                    }
                    _ => {
                        let data = random_bytes(next(50));
                        server.write(&data).unwrap();
                        said.extend_from_slice(&data);
                    }
                }
                wire.extend_from_slice(&drain(&mut server));
            }
            let closes = next(2) == 0;
            if closes {
                server.close().unwrap();
                wire.extend_from_slice(&drain(&mut server));
            }
            let (mut heard, mut rest, mut ended, mut asked_no_more) = (Vec::new(), &wire[..], false, 0);
            let mut room = vec![0; 1 + next(20_000)];
            while !rest.is_empty() {
                let size = rest.len().min(1 + next(30_000));
                let (mut now, later) = rest.split_at(size);
                rest = later;
                while !now.is_empty() {
                    now = &now[feed(&mut client, now)..];
                    loop {
                        let outcome = client.read(&mut room).unwrap();
                        if client.needs_input && client.incoming.is_none() {
                            // After a flight, rustls first returns the state in which the flight is marked as sent.
                            let mut more = client.step(&mut []).unwrap();
                            if more == (0, Step::Progress) {
                                more = client.step(&mut []).unwrap();
                            }
                            assert_eq!(more, (0, Step::Blocked), "{version:?}, {round}");
                            assert!(client.pending_plaintext.is_none() && !client.has_output());
                            asked_no_more += 1;
                        }
                        match outcome {
                            Read::Data(count) => heard.extend_from_slice(&room[..count]),
                            Read::Blocked => break,
                            Read::End => {
                                ended = true;
                                break;
                            }
                        }
                    }
                }
            }
            assert_eq!((heard == said, ended), (true, closes), "{version:?}, {round}");
            assert!(asked_no_more > 0 || said.is_empty() || closes);
        }
    }
}

#[test]
fn client_and_server_use_the_tls_1_3_suites_that_netlib_defines() {
    for ciphers in [
        None,
        Some(&b"TLS_AES_128_GCM_SHA256"[..]),
        Some(b"TLS_AES_256_GCM_SHA384"),
        Some(b"TLS_CHACHA20_POLY1305_SHA256"),
    ] {
        let context = context(|options| options.set_ciphers(ciphers).unwrap());
        let (mut client, mut server) = pair(&context);
        complete_handshake(&mut client, &mut server, usize::MAX);
        for side in [&client, &server] {
            assert!(suites::is_ours(side.connection().cipher_suite().unwrap()), "{ciphers:?}");
        }
    }
}

#[test]
fn an_engine_keeps_a_pool_buffer_only_while_the_buffer_holds_bytes() {
    let context = context(|_| {});
    let (mut client, mut server) = pair(&context);
    complete_handshake(&mut client, &mut server, usize::MAX);
    assert_eq!(read_all(&mut client, 10), b"");
    let free = context.pool().kept();
    client.write(b"x").unwrap();
    assert_eq!(context.pool().kept(), free - 1);
    feed(&mut server, &drain(&mut client));
    assert_eq!(read_all(&mut server, 10), b"x");
    assert_eq!(context.pool().kept(), free);
}
