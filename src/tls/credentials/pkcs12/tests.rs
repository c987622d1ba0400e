//! Tests PKCS#12 files that other programs wrote (tests/certs/pkcs12), mutations of every byte of these files, and
//! files that the tests construct. The suite `keys` tests PKCS#12 files that the openssl command writes.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;

use super::*;
use crate::status::Status;
use crate::tls::credentials::pem;

fn read(name: &str) -> Vec<u8> {
    std::fs::read(format!("tests/certs/{name}")).unwrap()
}

/// Returns the files that can be decrypted quickly, with their names and passwords.
fn files() -> Vec<(String, Vec<u8>, Option<String>)> {
    let list = String::from_utf8(read("pkcs12/list")).unwrap();
    let file = |line: &str| {
        let (name, password) = line.split_once('\t').unwrap();
        (name.to_owned(), read(&format!("pkcs12/{name}")), password.strip_prefix('+').map(str::to_owned))
    };
    let takes_long = |name: &str| ["certtool", "nss", "keytool"].iter().any(|writer| name.starts_with(writer));
    list.lines().map(file).filter(|(name, ..)| !takes_long(name)).collect()
}

fn load_with(bytes: &[u8], password: Option<&str>) -> Result<Arc<CertifiedKey>> {
    let password = password.map(|text| Password::new(text.as_bytes()).unwrap());
    load(bytes, "f", password.as_ref(), &aws_lc_rs::default_provider())
}

fn failure(bytes: &[u8], password: Option<&str>) -> (Status, String) {
    let error = load_with(bytes, password).unwrap_err();
    (error.status(), error.message().to_owned())
}

/// Returns the certificates in a PEM file, converted to DER.
fn certificates(name: &str) -> Vec<Vec<u8>> {
    pem::certificates(&read(name), name).unwrap().iter().map(|certificate| certificate.to_vec()).collect()
}

fn chain_of(identity: &CertifiedKey) -> Vec<Vec<u8>> {
    identity.keys_match().unwrap();
    identity.cert.iter().map(|certificate| certificate.to_vec()).collect()
}

#[test]
fn pkcs12_files_from_various_programs_are_loaded() {
    let expected = [certificates("client.pem"), certificates("ca.pem")].concat();
    let files = files();
    assert!(files.len() >= 9);
    for (name, bytes, password) in files {
        assert!(is_one(&bytes), "{name}");
        let identity = load_with(&bytes, password.as_deref()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(chain_of(&identity), expected, "{name}");
        if password.is_some() {
            let needed = "the PKCS#12 data in f is encrypted, and no password was given".to_owned();
            assert_eq!(failure(&bytes, None), (Status::PasswordRequired, needed), "{name}");
            for wrong in ["", "Secret", "secret "] {
                let refused = "the password for the PKCS#12 data in f is wrong".to_owned();
                assert_eq!(failure(&bytes, Some(wrong)), (Status::WrongPassword, refused), "{name}, {wrong:?}");
            }
        } else {
            assert!(load_with(&bytes, Some("any")).is_ok());
        }
    }
}

#[test]
fn data_of_other_formats_is_not_detected_as_pkcs12() {
    for bytes in [&b""[..], b"0", b"\x30\x03\x02\x01\x03", b"-----BEGIN CERTIFICATE-----", &read("server.der")] {
        assert!(!is_one(bytes), "{bytes:?}");
    }
    for name in ["server-key.der", "server-encrypted.der", "server.der"] {
        assert!(!is_one(&read(name)), "{name}");
    }
}

#[test]
fn corrupted_pkcs12_files_are_refused_or_yield_the_same_chain() {
    for (name, mut bytes, password) in files() {
        if name.starts_with("cryptography") {
            continue;
        }
        let whole = chain_of(&load_with(&bytes, password.as_deref()).unwrap());
        let statuses = [
            Status::InvalidPem,
            Status::WrongPassword,
            Status::PasswordRequired,
            Status::Unsupported,
            Status::KeyMismatch,
        ];
        for at in 0..bytes.len() {
            let error = load_with(&bytes[..at], password.as_deref()).unwrap_err();
            assert_eq!(error.status(), Status::InvalidPem, "{name} cut at {at}");
            for mask in [0x01, 0x80, 0xff] {
                bytes[at] ^= mask;
                match load_with(&bytes, password.as_deref()) {
                    // The tested files without a password have no MAC, so changes of their certificates are not
                    // detected.
                    Ok(_) if password.is_none() => {}
                    Ok(identity) => assert_eq!(chain_of(&identity), whole, "{name}, byte {at} ^ {mask:#x}"),
                    Err(error) => {
                        assert!(statuses.contains(&error.status()), "{name}, byte {at} ^ {mask:#x}: {error}");
                    }
                }
                bytes[at] ^= mask;
            }
        }
    }
}

/// Converts DER to BER as NSS and Bouncy Castle write it: with indefinite lengths, down to `depth` levels, and
/// constructed OCTET STRINGs.
fn to_ber(der: &[u8], depth: usize) -> Vec<u8> {
    let mut cursor = Der::new(der);
    let mut out = Vec::new();
    while let Some(element) = cursor.next() {
        let kind = element.tag;
        if kind & tag::CONSTRUCTED != 0 && depth > 0 {
            out.extend([&[kind, 0x80][..], &to_ber(element.content, depth - 1), &[0, 0]].concat());
        } else if kind == tag::OCTET_STRING {
            out.extend([kind | tag::CONSTRUCTED, 0x80]);
            for part in element.content.chunks(100) {
                out.extend(tlv(kind, &[part]));
            }
            out.extend([0, 0]);
        } else {
            out.extend(element.whole);
        }
    }
    assert!(cursor.is_empty());
    out
}

#[test]
fn pkcs12_files_in_ber_are_loaded_unless_truncated() {
    let der = read("pkcs12/openssl.p12");
    let expected = chain_of(&load_with(&der, Some("secret")).unwrap());
    // The MacData stays in DER.
    let (safe, mac) = split(&der).unwrap();
    let content = to_ber(&content_info(1, &octets(&safe.bytes)), 3);
    let ber = [&[0x30, 0x80, 2, 1, 3][..], &content, mac.unwrap().whole, &[0, 0]].concat();
    assert_eq!(chain_of(&load_with(&ber, Some("secret")).unwrap()), expected);
    for len in 0..ber.len() {
        assert_eq!(failure(&ber[..len], Some("secret")).0, Status::InvalidPem, "cut at {len}");
    }
    // The offset in the error message is relative to the joined OCTET STRING.
    let broken = [&[0x30, 0x80, 2, 1, 3][..], &to_ber(&content_info(1, &octets(&[0x31, 0])), 3), &[0, 0]].concat();
    let says = "the PKCS#12 data in f is malformed: the authenticated safe at byte 0 of the authenticated safe";
    assert_eq!(failure(&broken, None), (Status::InvalidPem, says.to_owned()));
}

fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let len = content.len().to_be_bytes();
    [&[tag, 0x84][..], &len[4..], &content].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(tag::SEQUENCE, parts)
}

fn octets(bytes: &[u8]) -> Vec<u8> {
    tlv(tag::OCTET_STRING, &[bytes])
}

fn oid(prefix: &[u8], rest: &[u8]) -> Vec<u8> {
    tlv(tag::OID, &[prefix, rest])
}

const ZERO: &[u8] = &[2, 1, 0];

/// `kind`: the last arc of the content type; 1 is data.
fn content_info(kind: u8, content: &[u8]) -> Vec<u8> {
    sequence(&[&oid(PKCS7.as_bytes(), &[kind]), &tlv(0xa0, &[content])])
}

fn pfx_of(content: &[u8], mac: &[u8]) -> Vec<u8> {
    sequence(&[&[2, 1, 3], content, mac])
}

/// Returns a file with one unencrypted part and no MAC.
fn pfx(bags: &[Vec<u8>]) -> Vec<u8> {
    let part = content_info(1, &octets(&sequence(&[&bags.concat()])));
    pfx_of(&content_info(1, &octets(&sequence(&[&part]))), &[])
}

const BAG: [u8; 10] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1];
const PKCS9: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9];

fn bag(kind: u8, value: &[u8], local_id: Option<u8>) -> Vec<u8> {
    let name = sequence(&[&oid(&PKCS9, &[20]), &tlv(tag::SET, &[&[0x1e, 2, 0, b'x']])]);
    let id = local_id.map(|id| sequence(&[&oid(&PKCS9, &[21]), &tlv(tag::SET, &[&octets(&[id])])]));
    let attributes = tlv(tag::SET, &[&name, &id.unwrap_or_default()]);
    sequence(&[&oid(&BAG, &[kind]), &tlv(0xa0, &[value]), &attributes])
}

fn key(name: &str, local_id: Option<u8>) -> Vec<u8> {
    use rustls_pki_types::pem::PemObject;
    let der = rustls_pki_types::PrivatePkcs8KeyDer::from_pem_slice(&read(name)).unwrap();
    bag(1, der.secret_pkcs8_der(), local_id)
}

fn certificate(der: &[u8], local_id: Option<u8>) -> Vec<u8> {
    bag(3, &sequence(&[&oid(&PKCS9, &[22, 1]), &tlv(0xa0, &[&octets(der)])]), local_id)
}

#[test]
fn the_first_pkcs12_key_with_a_certificate_is_loaded_with_its_chain() {
    let one = |name: &str| certificates(name)[0].clone();
    let (client, server, ca) = (one("client.pem"), one("server.pem"), one("ca.pem"));
    let good = certificates("verify/good-backwards.pem");
    let [leaf, root, int] = good.as_slice() else { panic!() };
    let expired = one("verify/expired.pem");
    let plain = |der: &[u8]| certificate(der, None);
    let (client_key, server_key, leaf_key) =
        (key("client.key", None), key("server.key", None), key("verify/leaf.key", None));
    let other_bags = [bag(4, ZERO, None), bag(5, ZERO, None), bag(9, ZERO, None)].concat();
    for (name, bags, expected) in [
        ("sorted", vec![plain(root), plain(int), plain(leaf), leaf_key.clone()], vec![leaf, int, root]),
        ("key first", vec![leaf_key.clone(), plain(int), plain(leaf), plain(root)], vec![leaf, int, root]),
        ("no authority", vec![leaf_key.clone(), plain(int), plain(leaf)], vec![leaf, int]),
        ("a gap", vec![leaf_key.clone(), plain(root), plain(leaf)], vec![leaf]),
        ("strangers", vec![plain(&server), plain(&client), client_key.clone(), plain(root)], vec![&client]),
        ("other bags", vec![other_bags, plain(&client), client_key.clone(), plain(&ca)], vec![&client, &ca]),
        (
            "the first of two keys",
            vec![server_key.clone(), client_key.clone(), plain(&client), plain(&server)],
            vec![&server],
        ),
        (
            "the only one with a certificate",
            vec![server_key.clone(), client_key.clone(), plain(&client)],
            vec![&client],
        ),
        // If two certificates have the same key, the certificate with the key's localKeyID is chosen; if neither has
        // it, the first certificate is chosen.
        ("not marked", vec![plain(&expired), plain(leaf), leaf_key.clone()], vec![&expired]),
        (
            "marked",
            vec![plain(&expired), certificate(leaf, Some(1)), key("verify/leaf.key", Some(1)), plain(int)],
            vec![leaf, int],
        ),
        (
            "marked wrongly",
            vec![certificate(root, Some(1)), plain(leaf), key("verify/leaf.key", Some(1))],
            vec![leaf],
        ),
        (
            "nested bags",
            vec![bag(6, &sequence(&[&leaf_key, &bag(6, &sequence(&[&plain(leaf)]), None)]), None)],
            vec![leaf],
        ),
    ] {
        let expected: Vec<Vec<u8>> = expected.into_iter().cloned().collect();
        assert_eq!(chain_of(&load_with(&pfx(&bags), None).unwrap()), expected, "{name}");
    }
    // The chain contains each certificate once, although the file contains some certificates twice.
    let pair = [plain(leaf), plain(int), plain(int), plain(root), plain(root)];
    let bags = [&pair[..], std::slice::from_ref(&leaf_key)].concat();
    assert_eq!(chain_of(&load_with(&pfx(&bags), None).unwrap()).len(), 3);

    let mismatch = |text: &str| (Status::KeyMismatch, text.to_owned());
    let invalid = |text: &str| (Status::InvalidPem, text.to_owned());
    let dsa = bag(
        1,
        &minimal(&sequence(&[ZERO, &sequence(&[&oid(&[0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1], &[])]), &octets(ZERO)])),
        None,
    );
    let mut broken = client.clone();
    broken[4] = 0;
    for (name, bags, expected) in [
        ("no key", vec![plain(&client)], invalid("f contains no private key")),
        ("no certificate", vec![client_key.clone()], invalid("f contains no certificate")),
        ("nothing", vec![], invalid("f contains no private key")),
        (
            "another's",
            vec![client_key.clone(), plain(&server)],
            mismatch("the certificate in f does not belong to its private key"),
        ),
        (
            "others'",
            vec![client_key.clone(), plain(&server), plain(&ca)],
            mismatch("none of the 2 certificates in f belongs to its private key"),
        ),
        (
            "others' keys",
            vec![client_key.clone(), server_key.clone(), plain(&ca)],
            mismatch("the certificate in f does not belong to one of its private keys"),
        ),
        (
            "broken",
            vec![client_key.clone(), plain(&server), plain(&broken)],
            invalid("the PKCS#12 data in f is malformed: the signed part at byte 4 of its certificate 2"),
        ),
        (
            "DSA",
            vec![dsa.clone(), plain(&client)],
            (
                Status::Unsupported,
                "the private key in f is one for the algorithm DSA (1.2.840.10040.4.1); RSA, EC and Ed25519 are \
                 supported"
                    .to_owned(),
            ),
        ),
        (
            "many keys",
            [vec![client_key.clone(); 65], vec![plain(&client)]].concat(),
            invalid("the PKCS#12 data in f is malformed: it has 65 private keys; at most 64 are allowed"),
        ),
        (
            "many bags",
            vec![bag(5, ZERO, None); 4097],
            invalid("the PKCS#12 data in f is malformed: it has more than 4096 bags"),
        ),
    ] {
        assert_eq!(failure(&pfx(&bags), None), expected, "{name}");
    }
    // An unusable key does not prevent the use of another key.
    assert!(load_with(&pfx(&[dsa, client_key, plain(&client)]), None).is_ok());
}

fn authority(name: &str) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params, KeyPair::generate().unwrap())
}

/// Returns a certificate for the first argument's name and key, signed by the second argument's key.
fn signed((params, key): &(CertificateParams, KeyPair), (by, by_key): &(CertificateParams, KeyPair)) -> Vec<u8> {
    params.signed_by(key, &Issuer::new(by.clone(), by_key)).unwrap().der().to_vec()
}

/// Returns the chain that netlib chooses from a file with these certificates and the private key `own`.
fn chain_in(own: &KeyPair, certificates: &[&Vec<u8>]) -> Vec<Vec<u8>> {
    let bags = certificates.iter().map(|der| certificate(der, None));
    chain_of(&load_with(&pfx(&bags.chain([bag(1, own.serialized_der(), None)]).collect::<Vec<_>>()), None).unwrap())
}

/// After a key rollover, an authority has two certificates with the same name and different keys.
#[test]
fn issuers_with_equal_names_are_matched_by_key_identifier() {
    let (old, new) = (authority("same"), authority("same"));
    let (old_der, new_der) = (signed(&old, &old), signed(&new, &new));
    for (names_key, issuer, expected) in
        [(true, &old, [&old_der; 2]), (true, &new, [&new_der; 2]), (false, &new, [&old_der, &new_der])]
    {
        let mut own = authority("own");
        own.0.use_authority_key_identifier_extension = names_key;
        let leaf = signed(&own, issuer);
        let chains = [[&leaf, &old_der, &new_der], [&leaf, &new_der, &old_der]].map(|all| chain_in(&own.1, &all));
        assert_eq!(chains, expected.map(|issuer| vec![leaf.clone(), issuer.clone()]), "{names_key}");
    }
}

#[test]
fn building_a_chain_of_cross_signed_authorities_terminates() {
    // Two authorities that issued certificates for each other.
    let (own, one, other) = (authority("own"), authority("one"), authority("other"));
    let ring = [signed(&own, &one), signed(&one, &other), signed(&other, &one)];
    assert_eq!(chain_in(&own.1, &ring.each_ref()), ring);
    let all: Vec<_> = (0..20).map(|i| authority(&format!("authority {i}"))).collect();
    let long: Vec<_> = all.windows(2).map(|pair| signed(&pair[0], &pair[1])).collect();
    assert_eq!(chain_in(&all[0].1, &long.iter().collect::<Vec<_>>()), long[..16]);
}

#[test]
fn pkcs12_bags_nested_in_more_than_4_bags_are_refused() {
    let nested = |depth: usize| (0..depth).fold(bag(5, ZERO, None), |inner, _| bag(6, &sequence(&[&inner]), None));
    assert_eq!(failure(&pfx(&[nested(4)]), None).1, "f contains no private key");
    for depth in [5, 1000] {
        let (status, message) = failure(&pfx(&[nested(depth)]), None);
        assert_eq!(status, Status::InvalidPem);
        assert!(message.contains("malformed: too many nested bags at byte "), "{message}");
    }
}

#[test]
fn malformed_and_unsupported_pkcs12_structures_are_refused() {
    let safe = |part: &[u8]| pfx_of(&content_info(1, &octets(&sequence(&[part]))), &[]);
    let malformed = |why: &str| (Status::InvalidPem, format!("the PKCS#12 data in f is malformed: {why}"));
    let unsupported = |why: &str| {
        let message = format!("the PKCS#12 data in f is encrypted in a way that is not supported: {why}");
        (Status::Unsupported, message)
    };
    for (bytes, expected) in [
        (pfx_of(&content_info(2, &octets(b"")), &[]), unsupported("it has a signature instead of a MAC")),
        (safe(&content_info(3, ZERO)), unsupported("its part 1 is encrypted for a public key")),
        (safe(&content_info(4, ZERO)), malformed("a content of an unknown type at byte 60")),
        (safe(&content_info(1, ZERO)), malformed("a part at byte 75")),
        (safe(ZERO), malformed("a part at byte 48")),
        (safe(&content_info(1, &octets(ZERO))), malformed("the list of bags at byte 81")),
        ([pfx(&[]), vec![0]].concat(), malformed("the data after the outermost sequence at byte 87")),
        (pfx(&[])[..86].to_vec(), malformed("the outermost sequence, which does not end within the data, at byte 0")),
        (pfx(&[sequence(&[])]), malformed("a bag's type at byte 93")),
        (pfx(&[sequence(&[&oid(&BAG, &[1])])]), malformed("a bag's value at byte 110")),
    ] {
        assert_eq!(failure(&bytes, None), expected);
    }
    let empty = content_info(1, &octets(&sequence(&[])));
    assert_eq!(failure(&safe(&empty.repeat(4096)), None).1, "f contains no private key");
    assert_eq!(failure(&safe(&empty.repeat(4097)), None), malformed("it has more than 4096 parts"));
}

fn algorithm(number: &str, parameters: &[u8]) -> Vec<u8> {
    let number = pkcs5::der::asn1::ObjectIdentifier::new_unwrap(number);
    sequence(&[&oid(number.as_bytes(), &[]), parameters])
}

/// Converts BER to DER, which netlib requires of MacData.
fn minimal(der: &[u8]) -> Vec<u8> {
    let mut cursor = Der::new(der);
    let mut out = Vec::new();
    while let Some(element) = cursor.next() {
        let content = match element.tag & tag::CONSTRUCTED {
            0 => element.content.to_vec(),
            _ => minimal(element.content),
        };
        let len = content.len();
        out.push(element.tag);
        match len {
            ..128 => out.push(len as u8),
            128..256 => out.extend([0x81, len as u8]),
            _ => out.extend([0x82, (len >> 8) as u8, len as u8]),
        }
        out.extend(content);
    }
    out
}

#[test]
fn malformed_or_excessive_pkcs12_mac_parameters_are_refused() {
    const SHA256: &str = "2.16.840.1.101.3.4.2.1";
    const HMAC_SHA256: &str = "1.2.840.113549.2.9";
    let mac = |algorithm: Vec<u8>, salt: usize, iterations: &[u8]| {
        let info = sequence(&[&algorithm, &octets(&[0; 32])]);
        minimal(&sequence(&[&info, &octets(&vec![1; salt]), iterations]))
    };
    let small = |value: u8| vec![tag::INTEGER, 1, value];
    let pbmac1 = |kdf: &str, rest: &[u8], hmac: &str| {
        let kdf = algorithm(kdf, &sequence(&[&octets(&[1; 8]), rest]));
        let parameters = sequence(&[&kdf, &algorithm(hmac, &[])]);
        mac(algorithm("1.2.840.113549.1.5.14", &parameters), 8, &[])
    };
    let pbkdf2 = "1.2.840.113549.1.5.12";
    let malformed = |why: &str| (Status::InvalidPem, format!("the PKCS#12 data in f is malformed: {why}"));
    let unsupported = |why: &str| {
        let message = format!("the PKCS#12 data in f is encrypted in a way that is not supported: {why}");
        (Status::Unsupported, message)
    };
    let wrong = || (Status::WrongPassword, "the password for the PKCS#12 data in f is wrong".to_owned());
    let with_length = |key: u8, prf: &[u8]| [small(1), small(key), prf.to_vec()].concat();
    let prf = algorithm(HMAC_SHA256, &[5, 0]);
    let rows = [
        (mac(algorithm(SHA256, &[5, 0]), 8, &[]), wrong()),
        (mac(algorithm(SHA256, &[]), 8, &small(2)), wrong()),
        (mac(algorithm(SHA256, &[5, 0]), 0, &small(2)), wrong()),
        (mac(algorithm(SHA256, &[5, 0]), 1024, &small(2)), wrong()),
        (
            mac(algorithm(SHA256, &[5, 0]), 1025, &small(2)),
            unsupported("a salt of 1025 bytes; at most 1024 are allowed"),
        ),
        (mac(algorithm(SHA256, &[5, 0]), 8, &small(0)), malformed("its MAC with 0 iterations")),
        (
            mac(algorithm(SHA256, &[5, 0]), 8, &[2, 3, 0x1e, 0x84, 0x81]),
            unsupported("its MAC with an iteration count of 2000001; at most 2000000 is allowed"),
        ),
        (mac(algorithm(SHA256, &[5, 0]), 8, &small(0xff)), malformed("its MAC does not have its standard form")),
        (mac(algorithm("1.2.840.113549.2.5", &[5, 0]), 8, &[]), unsupported("a MAC with MD5 (1.2.840.113549.2.5)")),
        (mac(vec![], 8, &[]), malformed("its MAC does not have its standard form")),
        (pbmac1(pbkdf2, &with_length(32, &prf), HMAC_SHA256), wrong()),
        (pbmac1(pbkdf2, &with_length(20, &prf), HMAC_SHA256), wrong()),
        (
            pbmac1(pbkdf2, &with_length(19, &prf), HMAC_SHA256),
            unsupported("PBMAC1 with a key of 19 bytes; 20 to 64 are allowed"),
        ),
        (
            pbmac1(pbkdf2, &with_length(65, &prf), HMAC_SHA256),
            unsupported("PBMAC1 with a key of 65 bytes; 20 to 64 are allowed"),
        ),
        (pbmac1(pbkdf2, &small(1), HMAC_SHA256), malformed("PBMAC1 without a key length")),
        (pbmac1("1.2.3.4", &small(1), HMAC_SHA256), unsupported("a MAC with the key derivation 1.2.3.4")),
        (
            pbmac1(pbkdf2, &with_length(32, &prf), "1.2.840.113549.2.6"),
            unsupported("a MAC with HMAC-MD5 (1.2.840.113549.2.6)"),
        ),
        (mac(algorithm("1.2.840.113549.1.5.14", &[]), 8, &[]), malformed("PBMAC1 does not have its standard form")),
    ];
    for (mac, expected) in rows {
        let bytes = pfx_of(&content_info(1, &octets(&sequence(&[]))), &mac);
        assert_eq!(failure(&bytes, Some("secret")), expected);
    }
}

/// A file may need several key derivations. The sum of their iteration counts is limited, in addition to the iteration
/// count of each derivation.
#[test]
fn pkcs12_files_that_need_over_8000000_iterations_in_total_are_refused() {
    let mut budget = WorkBudget::new();
    budget.spend(WorkBudget::MOST - 1).unwrap();
    budget.spend(1).unwrap();
    let refusal = budget.spend(1).unwrap_err().error_of(THING, "f");
    assert_eq!(refusal.status(), Status::Unsupported);
    let says = "decrypting all its parts takes more than 8000000 iterations";
    assert!(refusal.message().ends_with(says), "{}", refusal.message());
}

/// Tests files that have encrypted certificates but no MAC. By default, openssl adds a MAC to such files.
#[test]
fn encrypted_pkcs12_files_without_a_mac_are_loaded() {
    for name in ["openssl.p12", "openssl-legacy.p12"] {
        let whole = read(&format!("pkcs12/{name}"));
        let expected = chain_of(&load_with(&whole, Some("secret")).unwrap());
        let mut outer = Der::new(&whole).next().unwrap().inside();
        outer.next();
        let bytes = pfx_of(outer.next().unwrap().whole, &[]);
        assert_eq!(chain_of(&load_with(&bytes, Some("secret")).unwrap()), expected);
        assert_eq!(failure(&bytes, None).0, Status::PasswordRequired);
        for wrong in 0..600 {
            assert_eq!(failure(&bytes, Some(&wrong.to_string())).0, Status::WrongPassword, "{wrong}");
        }
    }
}

#[test]
fn pkcs12_parts_that_the_password_does_not_decrypt_are_refused() {
    let der = read("pkcs12/openssl.p12");
    let (safe, mac) = split(&der).unwrap();
    let mac = mac::Mac::read(&mac.unwrap()).unwrap();
    let spelled = |text: &str| PasswordEncoding::all(Some(&Password::new(text.as_bytes()).unwrap())).unwrap();
    let mut budget = WorkBudget::new();
    assert_eq!(mac.encoding(&safe.bytes, &spelled("secret"), &mut budget).unwrap(), Some(0));
    assert_eq!(mac.encoding(&safe.bytes, &spelled("other"), &mut budget).unwrap(), None);
    let refusal = |secret| bags::collect(&safe, &spelled("other"), secret, &mut WorkBudget::new()).err().unwrap();
    for (secret, status, says) in [
        (PasswordState::Given, Status::WrongPassword, "the password for the PKCS#12 data in f is wrong"),
        (
            PasswordState::NoneGiven,
            Status::PasswordRequired,
            "the PKCS#12 data in f is encrypted, and no password was given",
        ),
        (
            PasswordState::Right,
            Status::Unsupported,
            "the PKCS#12 data in f is encrypted in a way that is not supported: the password of a part is not that \
             of the MAC, or a part is damaged",
        ),
    ] {
        let error = refusal(secret).error_of(THING, "f");
        assert_eq!((error.status(), error.message()), (status, says));
    }
}
