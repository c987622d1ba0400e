//! Tests small keys that the openssl command wrote, mutations of every byte of these keys, and parameters that exceed
//! the limits. The suite `keys` tests all combinations that the openssl command can write.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;

use super::password::MAX_PASSWORD;
use super::*;

const SERVER: &[u8] = include_bytes!("../../../../tests/certs/server-key.der");
const PBKDF2: &[u8] = include_bytes!("../../../../tests/certs/server-encrypted-pbkdf2.key");
const SCRYPT: &[u8] = include_bytes!("../../../../tests/certs/server-encrypted-scrypt.key");
const DES_DER: &[u8] = include_bytes!("../../../../tests/certs/server-encrypted.der");
const TRADITIONAL_EC: &[u8] = include_bytes!("../../../../tests/certs/server-encrypted-sec1.key");
const TRADITIONAL_RSA: &[u8] = include_bytes!("../../../../tests/certs/rsa-encrypted-pkcs1.key");

fn plain(pem: &[u8]) -> Vec<u8> {
    find(pem, None).unwrap().to_vec()
}

/// Returns the name, the encrypted file and the decrypted DER of each test key.
fn vectors() -> [(&'static str, &'static [u8], Vec<u8>); 5] {
    let sec1 = plain(include_bytes!("../../../../tests/certs/server-sec1.key"));
    let pkcs1 = plain(include_bytes!("../../../../tests/certs/rsa-pkcs1.key"));
    [
        ("PBKDF2", PBKDF2, SERVER.to_vec()),
        ("scrypt", SCRYPT, SERVER.to_vec()),
        ("3DES in DER", DES_DER, SERVER.to_vec()),
        ("traditional EC", TRADITIONAL_EC, sec1),
        ("traditional RSA", TRADITIONAL_RSA, pkcs1),
    ]
}

fn password(text: &str) -> Password {
    Password::new(text.as_bytes()).unwrap()
}

fn load_with(bytes: &[u8], text: Option<&str>) -> Result<Arc<dyn SigningKey>> {
    let password = text.map(password);
    load(bytes, "k", password.as_ref(), &aws_lc_rs::default_provider())
}

fn failure(bytes: &[u8], text: Option<&str>) -> (Status, String) {
    let error = load_with(bytes, text).unwrap_err();
    (error.status(), error.message().to_owned())
}

#[test]
fn keys_are_decrypted_with_the_right_password_and_no_other() {
    for (name, bytes, inside) in vectors() {
        assert_eq!(*find(bytes, Some(&password("secret"))).unwrap(), inside, "{name}");
        assert!(load_with(bytes, Some("secret")).is_ok(), "{name}");
        let needed = "the private key in k is encrypted, and no password was given".to_owned();
        assert_eq!(failure(bytes, None), (Status::PasswordRequired, needed), "{name}");
        for wrong in ["", "Secret", "secret ", "secretsecret"] {
            let refused = "the password for the private key in k is wrong".to_owned();
            assert_eq!(failure(bytes, Some(wrong)), (Status::WrongPassword, refused), "{name}, {wrong:?}");
        }
    }
    // The password of an unencrypted key is ignored.
    assert!(load_with(SERVER, Some("secret")).is_ok());
}

/// About one in 256 wrong passwords yields correct padding, but the plaintext is then no key.
#[test]
fn wrong_passwords_that_yield_correct_padding_are_refused() {
    for i in 0..1000 {
        assert_eq!(failure(TRADITIONAL_EC, Some(&i.to_string())).0, Status::WrongPassword, "{i}");
    }
}

#[test]
fn passwords_over_1024_bytes_are_refused_and_debug_output_hides_passwords() {
    assert_eq!(format!("{:?}", password("secret")), "Password");
    assert!(Password::new(&[b'x'; MAX_PASSWORD]).is_ok());
    let error = Password::new(&[b'x'; MAX_PASSWORD + 1]).unwrap_err();
    assert_eq!(error.message(), "password must have at most 1024 bytes; it has 1025");
}

#[test]
fn truncated_encrypted_keys_are_refused() {
    for (name, bytes, _) in vectors() {
        let whole = bytes.trim_ascii_end();
        for len in 0..whole.len() {
            let error = load_with(&whole[..len], Some("secret")).unwrap_err();
            assert!(
                [Status::InvalidPem, Status::WrongPassword].contains(&error.status()),
                "{name} cut at {len}: {error}"
            );
        }
        assert!(load_with(whole, Some("secret")).is_ok());
    }
}

/// The offset of the version in the DER of SERVER.
const VERSION: usize = 5;

#[test]
fn altered_encrypted_keys_never_yield_another_key() {
    for (name, bytes, inside) in vectors() {
        let mut altered = bytes.to_vec();
        for at in 0..bytes.len() {
            for mask in [0x01, 0x20, 0x80, 0xff] {
                altered[at] ^= mask;
                if load_with(&altered, Some("secret")).is_ok() {
                    let mut found = find(&altered, Some(&password("secret"))).unwrap();
                    // A mutation may change the version of PKCS#8 from 0 to 1, which is also valid.
                    if Shape::of(&found) == Some(Shape::Pkcs8) {
                        found[VERSION] = inside[VERSION];
                    }
                    assert_eq!(*found, inside, "{name}, byte {at} altered by {mask:#x}");
                }
                altered[at] ^= mask;
            }
        }
    }
}

/// If an encrypted key is altered, the padding of the decrypted key may still be correct. So the parser of the
/// decrypted key must detect the change; this test alters a key that was never encrypted.
#[test]
fn altered_unencrypted_keys_are_refused() {
    for at in 0..SERVER.len() {
        for mask in [0x02, 0x04, 0x80] {
            let mut altered = SERVER.to_vec();
            altered[at] ^= mask;
            assert!(load_with(&altered, None).is_err(), "byte {at} altered by {mask:#x}");
        }
    }
}

fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let len = content.len();
    let header = match len {
        ..128 => vec![tag, len as u8],
        128..256 => vec![tag, 0x81, len as u8],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    [header, content].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, parts)
}

fn integer(value: u64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let digits = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(7)..];
    let sign: &[u8] = if digits[0] < 0x80 { &[] } else { &[0] };
    tlv(0x02, &[sign, digits])
}

fn algorithm(oid: &str, parameters: &[u8]) -> Vec<u8> {
    let oid = pkcs5::der::asn1::ObjectIdentifier::new_unwrap(oid);
    sequence(&[&tlv(0x06, &[oid.as_bytes()]), parameters])
}

fn octets(len: usize) -> Vec<u8> {
    tlv(0x04, &[&vec![7; len]])
}

const AES_256: &str = "2.16.840.1.101.3.4.1.42";
const DES_EDE3: &str = "1.2.840.113549.3.7";
const RC2: &str = "1.2.840.113549.3.2";
const SHA256: &str = "1.2.840.113549.2.9";

fn encrypted(scheme: &[u8], ciphertext: usize) -> Vec<u8> {
    sequence(&[scheme, &octets(ciphertext)])
}

fn pbes2(kdf: &[u8], cipher: &str, iv: usize) -> Vec<u8> {
    let parameters = sequence(&[kdf, &algorithm(cipher, &octets(iv))]);
    encrypted(&algorithm("1.2.840.113549.1.5.13", &parameters), 32)
}

/// Returns the algorithm identifier of PBKDF2 with a salt of `salt` bytes. `rest`: the fields after the salt.
fn pbkdf2(salt: usize, rest: &[&[u8]]) -> Vec<u8> {
    algorithm("1.2.840.113549.1.5.12", &sequence(&[&octets(salt), &rest.concat()]))
}

fn scrypt(salt: usize, rest: &[u64]) -> Vec<u8> {
    let rest: Vec<u8> = rest.iter().flat_map(|number| integer(*number)).collect();
    algorithm("1.3.6.1.4.1.11591.4.11", &sequence(&[&octets(salt), &rest]))
}

const UNSUPPORTED: &str = "the private key in k is encrypted in a way that is not supported: ";
const MALFORMED: &str = "the private key in k is malformed: ";

#[test]
fn malformed_unsupported_or_excessive_pbes2_parameters_are_refused() {
    let one = integer(1);
    let iterations = |count: u64| pbes2(&pbkdf2(8, &[&integer(count)]), AES_256, 16);
    let with_scrypt = |numbers: &[u64]| pbes2(&scrypt(8, numbers), AES_256, 16);
    let huge = tlv(0x02, &[&[1; 12]]);
    let sha256 = algorithm(SHA256, &[5, 0]);
    for (der, refused) in [
        (iterations(2_000_001), "PBKDF2 with an iteration count of 2000001; at most 2000000 is allowed"),
        (iterations(u64::MAX), "PBKDF2 with an iteration count of 18446744073709551615; at most 2000000 is allowed"),
        (
            pbes2(&pbkdf2(8, &[&huge]), AES_256, 16),
            "PBKDF2 with an iteration count of 12 bytes; at most 2000000 is allowed",
        ),
        (pbes2(&pbkdf2(33, &[&one]), AES_256, 16), "a salt of 33 bytes; at most 32 are allowed"),
        (pbes2(&pbkdf2(5000, &[&one]), AES_256, 16), "a salt of 5000 bytes; at most 32 are allowed"),
        (pbes2(&scrypt(33, &[2, 1, 1]), AES_256, 16), "a salt of 33 bytes; at most 32 are allowed"),
        (
            with_scrypt(&[1 << 18, 8, 1]),
            "scrypt with N 262144, r 8, p 1: its memory in bytes is 268435456; at most 134217728 is allowed",
        ),
        (
            with_scrypt(&[2, 65_535, 65_535]),
            "scrypt with N 2, r 65535, p 65535: its memory in bytes is 549739036800; at most 134217728 is allowed",
        ),
        (
            with_scrypt(&[1 << 16, 16, 9]),
            "scrypt with N 65536, r 16, p 9: its work N*r*p is 9437184; at most 2097152 is allowed",
        ),
        (with_scrypt(&[1 << 32, 1, 1]), "scrypt with N 4294967296; at most 4294967295 is allowed"),
        (with_scrypt(&[2, 65_536, 1]), "scrypt with r 65536; at most 65535 is allowed"),
        (with_scrypt(&[2, 1, 65_536]), "scrypt with p 65536; at most 65535 is allowed"),
        (pbes2(&pbkdf2(8, &[&one]), RC2, 8), "the cipher RC2-CBC (1.2.840.113549.3.2)"),
        (pbes2(&pbkdf2(8, &[&one]), "1.2.3.4", 8), "the cipher 1.2.3.4"),
        (
            pbes2(&pbkdf2(8, &[&one, &algorithm("1.2.840.113549.2.12", &[])]), AES_256, 16),
            "PBKDF2 with HMAC-SHA512-224 (1.2.840.113549.2.12)",
        ),
        (pbes2(&algorithm("1.2.3.5", &octets(1)), AES_256, 16), "the key derivation 1.2.3.5"),
        (
            pbes2(&algorithm("1.2.840.113549.1.5.12", &sequence(&[&sequence(&[]), &one])), AES_256, 16),
            "a salt from another source (otherSource)",
        ),
        (
            encrypted(&algorithm("1.2.840.113549.1.5.3", &octets(1)), 16),
            "the scheme pbeWithMD5AndDES-CBC (1.2.840.113549.1.5.3)",
        ),
    ] {
        // The error is the same with and without a password, because no password would decrypt the key.
        for text in [None, Some("secret")] {
            assert_eq!(failure(&der, text), (Status::Unsupported, format!("{UNSUPPORTED}{refused}")));
        }
    }
    for (der, wrong) in [
        (iterations(0), "PBKDF2 with 0 iterations"),
        (pbes2(&pbkdf2(8, &[&tlv(0x02, &[&[0x80]])]), AES_256, 16), "PBKDF2 does not have its standard form"),
        (pbes2(&pbkdf2(8, &[]), AES_256, 16), "PBKDF2 does not have its standard form"),
        (with_scrypt(&[0, 1, 1]), "scrypt with N 0, r 1, p 1"),
        (with_scrypt(&[1, 1, 1]), "scrypt with N 1, r 1, p 1"),
        (with_scrypt(&[3, 1, 1]), "scrypt with N 3, r 1, p 1"),
        (with_scrypt(&[2, 0, 1]), "scrypt with N 2, r 0, p 1"),
        (with_scrypt(&[2, 1, 0]), "scrypt with N 2, r 1, p 0"),
        (with_scrypt(&[2, 1]), "scrypt does not have its standard form"),
        (with_scrypt(&[2, 1, 1, 31]), "a derived key of 31 bytes; its cipher needs 32"),
        (pbes2(&pbkdf2(8, &[&one, &integer(16)]), DES_EDE3, 8), "a derived key of 16 bytes; its cipher needs 24"),
        (pbes2(&pbkdf2(8, &[&one]), DES_EDE3, 7), "its initialization vector has 7 bytes"),
        (pbes2(&pbkdf2(8, &[&one]), DES_EDE3, 0), "its initialization vector has 0 bytes"),
        (pbes2(&pbkdf2(8, &[&one]), DES_EDE3, 16), "its initialization vector has 16 bytes"),
        (pbes2(&pbkdf2(8, &[&one]), AES_256, 15), "its initialization vector has 15 bytes"),
        (pbes2(&sequence(&[]), AES_256, 16), "PBES2 does not have its standard form"),
        (encrypted(&algorithm("1.2.840.113549.1.5.13", &[]), 16), "PBES2 does not have its standard form"),
        (encrypted(&sequence(&[]), 16), "its encryption algorithm does not have its standard form"),
    ] {
        assert_eq!(failure(&der, Some("secret")), (Status::InvalidPem, format!("{MALFORMED}{wrong}")));
    }
    // Valid parameters, of which some are equal to a limit, are accepted, so the error is that the password is wrong.
    for der in [
        with_scrypt(&[16, 8, 1, 32]),
        pbes2(&scrypt(32, &[2, 1, 4]), AES_256, 16),
        pbes2(&pbkdf2(0, &[&one]), AES_256, 16),
        pbes2(&pbkdf2(32, &[&one, &integer(32), &sha256]), AES_256, 16),
        pbes2(&pbkdf2(8, &[&one, &integer(24)]), DES_EDE3, 8),
    ] {
        assert_eq!(failure(&der, Some("secret")).0, Status::WrongPassword);
    }
    for len in [0, 8, 31, 33] {
        let scheme =
            algorithm("1.2.840.113549.1.5.13", &sequence(&[&pbkdf2(8, &[&one]), &algorithm(AES_256, &octets(16))]));
        let wrong = format!("{MALFORMED}{len} encrypted bytes are not a multiple of the block size 16");
        assert_eq!(failure(&encrypted(&scheme, len), None), (Status::InvalidPem, wrong));
    }
}

#[test]
fn invalid_encryption_headers_of_traditional_pem_keys_are_refused() {
    let iv = "00112233445566778899aabbccddeeff";
    let text = "AAAAAAAAAAAAAAAAAAAAAA==\n";
    for (headers, status, says) in [
        (format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{iv}\n\n"), Status::WrongPassword, ""),
        (format!("Proc-Type:4,ENCRYPTED\r\nDEK-Info:aes-192-cbc, {iv}\r\n\r\n"), Status::WrongPassword, ""),
        (format!("DEK-Info: AES-256-CBC,{iv}\nX: y\nProc-Type: 4,ENCRYPTED\n"), Status::WrongPassword, ""),
        ("Proc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0011223344556677\n\n".into(), Status::WrongPassword, ""),
        (
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: DES-CBC,0011223344556677\n\n".into(),
            Status::Unsupported,
            "the cipher \"DES-CBC\"",
        ),
        ("Proc-Type: 4,ENCRYPTED\nDEK-Info: RC2-CBC\n\n".into(), Status::Unsupported, "the cipher \"RC2-CBC\""),
        ("Proc-Type: 4,ENCRYPTED\nDEK-Info:\n\n".into(), Status::Unsupported, "the cipher \"\""),
        ("Proc-Type: 4,ENCRYPTED\n\n".into(), Status::InvalidPem, "it is encrypted, but has no DEK-Info"),
        (format!("Proc-Type: 4,MIC-CLEAR\nDEK-Info: AES-128-CBC,{iv}\n\n"), Status::InvalidPem, "its Proc-Type is"),
        (
            format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,{iv}\n\n"),
            Status::InvalidPem,
            "the initialization vector in its DEK-Info is not 16 hex digits",
        ),
        ("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC\n\n".into(), Status::InvalidPem, "is not 32 hex digits"),
        (
            format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{}g\n\n", &iv[1..]),
            Status::InvalidPem,
            "is not 32 hex digits",
        ),
        ("Comment: not encrypted\n\n".into(), Status::InvalidPem, "it is not in PKCS#8, PKCS#1 or SEC1 form"),
    ] {
        let pem = format!("-----BEGIN EC PRIVATE KEY-----\n{headers}{text}-----END EC PRIVATE KEY-----\n");
        let (found, message) = failure(pem.as_bytes(), Some("secret"));
        assert_eq!(found, status, "{headers:?}: {message}");
        assert!(message.contains(says), "{headers:?}: {message}");
    }
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{iv}\n\n");
    for (text, says) in [
        ("AAAA", "3 encrypted bytes are not a multiple of the block size 16"),
        ("", "0 encrypted bytes are not a multiple of the block size 16"),
        ("A", "its text is not valid base64"),
        ("AAAA\nAA:A", "its text is not valid base64"),
    ] {
        let message = failure(format!("{pem}\n{text}\n-----END RSA PRIVATE KEY-----").as_bytes(), None);
        assert_eq!(message, (Status::InvalidPem, format!("{MALFORMED}{says}")), "{text:?}");
    }
}

#[test]
fn first_key_among_other_pem_sections_is_loaded() {
    let sections = |parts: &[&[u8]]| parts.join(&b"\n"[..]);
    let parameters = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----";
    let certificate = include_bytes!("../../../../tests/certs/server.pem");
    let client = include_bytes!("../../../../tests/certs/client.key");
    let rsa = include_bytes!("../../../../tests/certs/rsa.key");
    let secret = password("secret");
    for (parts, expected) in [
        (&[certificate.as_slice(), parameters, TRADITIONAL_EC, certificate][..], vectors()[3].2.clone()),
        (&[parameters, SCRYPT, client], SERVER.to_vec()),
        (&[client, SCRYPT], plain(client)),
        (&[rsa, client], plain(rsa)),
    ] {
        let text = sections(parts);
        assert_eq!(*find(&text, Some(&secret)).unwrap(), expected);
    }
    // The PEM label only says that the section is a key; the format is detected from the bytes.
    for (from, to) in [("ENCRYPTED PRIVATE", "EC PRIVATE"), ("ENCRYPTED PRIVATE", "PRIVATE")] {
        let text = String::from_utf8_lossy(SCRYPT).replace(from, to);
        assert_eq!(*find(text.as_bytes(), Some(&secret)).unwrap(), SERVER);
    }
    let der = include_bytes!("../../../../tests/certs/server.der");
    for parts in [[der.as_slice(), SERVER], [SERVER, der], [der, DES_DER]] {
        let bytes = parts.concat();
        assert_eq!(*find(&bytes, Some(&secret)).unwrap(), SERVER);
        assert_eq!(pem::certificates(&bytes, "c").unwrap(), [der.to_vec().into()]);
    }
    for (text, says) in [
        (sections(&[certificate]), "k contains no private key"),
        (
            b"-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----".to_vec(),
            "k contains no private key in a supported form, only a section \"OPENSSH PRIVATE KEY\"",
        ),
        (der.to_vec(), "k contains neither a PEM nor a DER private key"),
        (Vec::new(), "k contains neither a PEM nor a DER private key"),
    ] {
        assert_eq!(failure(&text, None), (Status::InvalidPem, says.to_owned()));
    }
}
