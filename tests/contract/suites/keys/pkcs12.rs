//! Tests PKCS#12 files that the openssl command writes (every kind of key with every encryption, every encryption with
//! every MAC, and every kind of password), and the files of other programs in tests/certs/pkcs12.

use std::fs;
use std::path::{Path, PathBuf};

use super::{KINDS, PASSWORD, openssl, row};
use crate::env::{Env, parallel};
use crate::report::Report;

/// The encryptions of the key and of the certificates.
const ENCRYPTIONS: [&str; 14] = [
    "",
    "-legacy",
    "-keypbe AES-128-CBC -certpbe AES-128-CBC",
    "-keypbe AES-192-CBC -certpbe AES-256-CBC",
    "-keypbe AES-256-CBC -certpbe AES-192-CBC",
    "-keypbe DES-EDE3-CBC -certpbe DES-EDE3-CBC",
    "-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES",
    "-keypbe PBE-SHA1-2DES -certpbe PBE-SHA1-3DES",
    "-legacy -keypbe PBE-SHA1-RC2-128 -certpbe PBE-SHA1-RC2-128",
    "-legacy -keypbe PBE-SHA1-RC2-40 -certpbe PBE-SHA1-RC2-40",
    "-keypbe AES-256-CBC -certpbe PBE-SHA1-3DES",
    "-keypbe NONE -certpbe AES-256-CBC",
    "-keypbe AES-256-CBC -certpbe NONE",
    "-keypbe NONE -certpbe NONE",
];

const MACS: [&str; 7] =
    ["", "-macalg sha1", "-macalg sha224", "-macalg sha256", "-macalg sha384", "-macalg sha512", "-nomac"];

/// Returns one password of each kind. The last password is longer than the openssl command accepts at its prompt.
fn passwords() -> [String; 6] {
    [
        String::new(),
        PASSWORD.to_owned(),
        "p\u{e4}ss w\u{f6}rd".to_owned(),
        "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}".to_owned(),
        "key \u{1f511} and \u{1f5dd}".to_owned(),
        "x".repeat(1000),
    ]
}

/// The openssl arguments for unsupported encryptions and MACs, each with a part of netlib's error message.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("-macalg md5", "a MAC with MD5 (1.2.840.113549.2.5)"),
    ("-macalg sha512-256", "a MAC with SHA-512/256 (2.16.840.1.101.3.4.2.6)"),
    ("-macalg sha3-256", "a MAC with SHA3-256 (2.16.840.1.101.3.4.2.8)"),
    ("-certpbe camellia-256-cbc", "the cipher CAMELLIA-256-CBC (1.2.392.200011.61.1.1.1.4)"),
    ("-keypbe aria-128-cbc", "the cipher ARIA-128-CBC (1.2.410.200046.1.1.2)"),
    ("-legacy -certpbe PBE-SHA1-RC4-128", "the scheme pbeWithSHA1And128BitRC4 (1.2.840.113549.1.12.1.1)"),
    ("-legacy -keypbe PBE-SHA1-RC4-40", "the scheme pbeWithSHA1And40BitRC4 (1.2.840.113549.1.12.1.2)"),
];

struct File {
    path: PathBuf,
    command: String,
    password: String,
    /// True if a part of the file is encrypted or has a MAC, so that a password is needed.
    is_protected: bool,
}

pub fn rows(env: &Env, scratch: &Path, list: &mut Vec<u8>, report: &mut Report) {
    let files = files(scratch);
    let failures: Vec<String> =
        parallel(&files, |file| openssl(env, &file.command)).into_iter().filter_map(Result::err).collect();
    if !failures.is_empty() {
        return report.problems("making PKCS#12", failures);
    }
    for file in &files {
        let (path, right) = (&file.path, file.password.as_bytes());
        row(list, "OK", path, None, Some(right), "");
        match (file.is_protected, right) {
            (false, _) => {
                row(list, "OK", path, None, Some(b"another"), "");
                row(list, "OK", path, None, None, "");
            }
            (true, []) => {
                row(list, "WRONG_PASSWORD", path, None, Some(b"another"), "the password for the PKCS#12 data");
                row(list, "OK", path, None, None, "");
            }
            (true, _) => {
                row(list, "WRONG_PASSWORD", path, None, Some(b"another"), "the password for the PKCS#12 data");
                row(list, "WRONG_PASSWORD", path, None, Some(b""), "the password for the PKCS#12 data");
                row(list, "PASSWORD_REQUIRED", path, None, None, "no password was given");
            }
        }
    }
    refused(env, scratch, list, report);
    of_others(env, list);
}

fn export(scratch: &Path, kind: &str, how: &str, password: &str, to: &Path) -> String {
    let at = |end: &str| scratch.join(format!("{kind}.{end}")).display().to_string();
    let (key, certificate, to) = (at("key"), at("pem"), to.display());
    let password = password.replace(' ', "\u{1}");
    let how = if how.is_empty() { String::new() } else { format!(" {how}") };
    format!("pkcs12 -export -inkey {key} -in {certificate}{how} -passout pass:{password} -out {to}")
}

fn files(scratch: &Path) -> Vec<File> {
    let mut files = Vec::new();
    let mut add = |kind: &str, encryption: &str, mac: &str, password: &str| {
        let path = scratch.join(format!("{kind}-{}.p12", files.len()));
        // Some files also contain friendly names, and CA certificates in addition to the client's certificate.
        let extras = match files.len() % 3 {
            0 => format!(" -name a\u{1}name -certfile {}", scratch.join("rsa-2048.pem").display()),
            1 => format!(" -caname \u{f6} -certfile {}", scratch.join("p-521.pem").display()),
            _ => String::new(),
        };
        let how = [encryption, mac, extras.trim()].into_iter().filter(|part| !part.is_empty());
        let how = how.collect::<Vec<_>>().join(" ");
        let command = export(scratch, kind, &how, password, &path);
        // If a file has no MAC, the openssl command does not encrypt the certificates.
        let is_protected = mac != "-nomac" || !encryption.contains("-keypbe NONE");
        files.push(File { path, command, password: password.to_owned(), is_protected });
    };
    let passwords = passwords();
    for (i, encryption) in ENCRYPTIONS.into_iter().enumerate() {
        for (j, mac) in MACS.into_iter().enumerate() {
            // Every combination with the encryption `-legacy` or without a MAC is tested with every kind of password.
            // Every other combination of encryption and MAC is tested with one kind of password.
            let all = encryption == "-legacy" || mac == "-nomac";
            for (k, password) in passwords.iter().enumerate() {
                if all || (i + j) % passwords.len() == k {
                    add("p-256", encryption, mac, password);
                }
            }
        }
        for (kind, ..) in KINDS {
            add(kind, encryption, "", PASSWORD);
        }
    }
    for password in &passwords {
        add("ed25519", "-iter 100000", "", password);
    }
    files
}

fn refused(env: &Env, scratch: &Path, list: &mut Vec<u8>, report: &mut Report) {
    let file = |name: &str| scratch.join(format!("{name}.p12"));
    let mut make = |name: &str, how: &str| {
        let path = file(name);
        if let Err(text) = openssl(env, &export(scratch, "p-256", how, "secret", &path)) {
            report.fail(text);
        }
        path
    };
    let password = Some(&b"secret"[..]);
    for (i, (how, says)) in UNSUPPORTED.iter().enumerate() {
        let path = make(&format!("unsupported-{i}"), how);
        row(list, "UNSUPPORTED", &path, None, password, says);
        // netlib verifies the MAC before it decrypts anything.
        match how.contains("-macalg") {
            true => row(list, "UNSUPPORTED", &path, None, Some(b"another"), says),
            false => row(list, "WRONG_PASSWORD", &path, None, Some(b"another"), ""),
        }
    }
    let path = make("no-key", "-nokeys");
    row(list, "INVALID_PEM", &path, None, password, "contains no private key");
    let path = make("no-certificate", "-nocerts");
    row(list, "INVALID_PEM", &path, None, password, "contains no certificate");
    let (path, certificate, key) = (make("whole", ""), scratch.join("p-256.pem"), scratch.join("p-256.key"));
    row(list, "OK", &path, Some(&path), password, "");
    row(list, "INVALID_ARGUMENT", &path, Some(&key), password, "is PKCS#12 and contains its own key");
    row(list, "INVALID_ARGUMENT", &certificate, Some(&path), password, "is PKCS#12: pass it in place of the chain");
    let many = make("work", "-iter 2000001");
    row(list, "UNSUPPORTED", &many, None, password, "with an iteration count of 2000001; at most 2000000 is allowed");
    let whole = fs::read(&path).unwrap_or_default();
    for (name, bytes) in [("cut", &whole[..whole.len() - 1]), ("more", &[&whole[..], b"\n"].concat())] {
        fs::write(file(name), bytes).expect("target is writable");
        row(list, "INVALID_PEM", &file(name), None, password, "the PKCS#12 data in ");
    }
}

/// Adds the files of other programs in tests/certs/pkcs12. The file `list` in that folder contains their passwords.
fn of_others(env: &Env, list: &mut Vec<u8>) {
    let folder = env.root.join("tests/certs/pkcs12");
    let text = fs::read_to_string(folder.join("list")).expect("it is committed");
    for (name, password) in text.lines().filter_map(|line| line.split_once('\t')) {
        let path = folder.join(name);
        match password.strip_prefix('+') {
            Some(password) => {
                row(list, "OK", &path, None, Some(password.as_bytes()), "");
                row(list, "WRONG_PASSWORD", &path, None, Some(b"another"), "the password for the PKCS#12 data");
                row(list, "PASSWORD_REQUIRED", &path, None, None, "no password was given");
            }
            None => {
                row(list, "OK", &path, None, None, "");
                row(list, "OK", &path, None, Some(b""), "");
            }
        }
    }
}
