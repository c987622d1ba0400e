//! Tests private keys and PKCS#12 files that the openssl command writes: every kind of key, container and encryption.
//! The suite loads each key from a file and from memory, with the right password, a wrong password and no password, and
//! with the certificate of another key.

mod pkcs12;

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, has, parallel};
use crate::report::Report;
use crate::suites::c_tests::take_counts;

const PASSWORD: &str = "a pass word";
const SECONDS: u64 = 300;

const CIPHERS: [&str; 4] = ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des-ede3-cbc"];
const PRFS: [&str; 5] = ["hmacWithSHA1", "hmacWithSHA224", "hmacWithSHA256", "hmacWithSHA384", "hmacWithSHA512"];
const TRADITIONAL_CIPHERS: [&str; 4] = ["-aes128", "-aes192", "-aes256", "-des3"];

/// The supported kinds of keys: the name, the openssl subcommand that writes the traditional format, and the arguments
/// of `openssl genpkey`.
const KINDS: [(&str, &str, &str); 6] = [
    ("rsa-2048", "rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
    ("rsa-3072", "rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:3072"),
    ("p-256", "ec", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
    ("p-384", "ec", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
    ("p-521", "ec", "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
    ("ed25519", "", "-algorithm ED25519"),
];

/// The unsupported kinds of keys: the name, the arguments of `openssl genpkey`, and a part of netlib's error message.
const UNUSABLE: [(&str, &str, &str); 7] = [
    ("rsa-1024", "-algorithm RSA -pkeyopt rsa_keygen_bits:1024", "is an RSA key of 1024 bits; 2048 to 8192"),
    ("rsa-pss", "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", "RSA-PSS (1.2.840.113549.1.1.10)"),
    ("p-224", "-algorithm EC -pkeyopt ec_paramgen_curve:P-224", "on the curve P-224 (1.3.132.0.33)"),
    ("secp256k1", "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", "on the curve secp256k1 (1.3.132.0.10)"),
    (
        "explicit",
        "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -pkeyopt ec_param_enc:explicit",
        "on a curve without a name",
    ),
    ("ed448", "-algorithm ED448", "is one for the algorithm Ed448 (1.3.101.113)"),
    ("x25519", "-algorithm X25519", "is one for the algorithm X25519 (1.3.101.110)"),
];

/// The unsupported encryptions: the kind of key, the openssl command, and a part of netlib's error message.
const UNSUPPORTED: [(&str, &str, &str); 6] = [
    ("p-256", "pkcs8 -topk8 -v2 camellia-256-cbc", "the cipher CAMELLIA-256-CBC (1.2.392.200011.61.1.1.1.4)"),
    ("p-256", "pkcs8 -topk8 -v2 aria-128-cbc", "the cipher ARIA-128-CBC (1.2.410.200046.1.1.2)"),
    ("p-256", "pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA512-256", "HMAC-SHA512-256 (1.2.840.113549.2.13)"),
    ("p-256", "pkcs8 -topk8 -v1 PBE-MD5-DES -provider legacy -provider default", "the scheme pbeWithMD5AndDES-CBC"),
    ("p-256", "ec -camellia128", "the cipher \"CAMELLIA-128-CBC\""),
    ("rsa-2048", "rsa -traditional -aria256", "the cipher \"ARIA-256-CBC\""),
];

/// A format in which openssl writes a key, with its encryption.
struct Form {
    kind: &'static str,
    file: PathBuf,
    command: String,
    password: Option<Vec<u8>>,
}

pub fn run(env: &Env, report: &mut Report) {
    if !has("openssl") {
        return report.skip("openssl is not installed");
    }
    let scratch = env.scratch("keys");
    let forms = forms(&scratch);
    let made =
        parallel(&generate(&scratch), |commands| commands.iter().try_for_each(|command| openssl(env, command)));
    let made = made.into_iter().chain(parallel(&forms, |form| openssl(env, &form.command)));
    let failures: Vec<String> = made.filter_map(Result::err).collect();
    if !failures.is_empty() {
        return report.problems("making the keys", failures);
    }
    let mut list = Vec::new();
    for form in &forms {
        rows(form, &scratch, &mut list);
    }
    combined(&forms, &scratch, &mut list);
    refused(env, &scratch, &mut list, report);
    pkcs12::rows(env, &scratch, &mut list, report);
    let file = scratch.join("list");
    fs::write(&file, list).expect("target is writable");
    load(env, &scratch, &file, report);
}

/// Loads the identities in a list file, whose format c-tests/tls/credentials/keys.c describes.
pub fn load(env: &Env, scratch: &Path, list: &Path, report: &mut Report) {
    let program = scratch.join("keys");
    match env.compile(&env.root.join("c-tests/tls/credentials/keys.c"), &program, env.library()) {
        Ok(()) => {
            let ran = env.command(&program).arg(list).load_from(env.library()).run(SECONDS);
            take_counts("keys", &ran, report);
        }
        Err(text) => report.fail(format!("keys.c does not compile\n{text}")),
    }
}

/// Runs an openssl command. The command line is split at spaces, so no argument except the password may contain spaces.
fn openssl(env: &Env, command: &str) -> Result<(), String> {
    let arguments = command.split(' ').map(|argument| argument.replace('\u{1}', " "));
    env.command("openssl").args(arguments).run(SECONDS).or_text().map_err(|text| format!("openssl {command}\n{text}"))
}

/// Returns for each kind of key the two openssl commands that create the key and its certificate.
fn generate(scratch: &Path) -> Vec<[String; 2]> {
    let at = |name: &str| scratch.join(name).display().to_string();
    let make = |(name, _, how): &(&str, &str, &str)| {
        let (key, certificate) = (at(&format!("{name}.key")), at(&format!("{name}.pem")));
        [
            format!("genpkey {how} -out {key}"),
            format!("req -new -x509 -key {key} -subj /CN=localhost -days 3650 -out {certificate}"),
        ]
    };
    KINDS.iter().map(make).collect()
}

fn forms(scratch: &Path) -> Vec<Form> {
    let mut forms = Vec::new();
    for (kind, own, _) in KINDS {
        let mut add = |how: &str, format: &str, password: Option<&str>| {
            let file = scratch.join(format!("{kind}-{}.{format}", forms.len()));
            let passout =
                password.map_or(String::new(), |text| format!(" -passout pass:{}", text.replace(' ', "\u{1}")));
            let source = scratch.join(format!("{kind}.key"));
            let (from, to) = (source.display(), file.display());
            let command = format!("{how}{passout} -in {from} -outform {format} -out {to}");
            let password = password.map(|text| text.as_bytes().to_vec());
            forms.push(Form { kind, file, command, password });
        };
        for format in ["PEM", "DER"] {
            add("pkcs8 -topk8 -nocrypt", format, None);
            for cipher in CIPHERS {
                for prf in PRFS {
                    add(&format!("pkcs8 -topk8 -v2 {cipher} -v2prf {prf}"), format, Some(PASSWORD));
                }
                // Only one kind of key uses scrypt's default cost, to save time; the other kinds use a sixteenth of
                // that cost.
                let work = if kind == "p-256" { "" } else { " -scrypt_N 1024 -scrypt_r 8 -scrypt_p 1" };
                add(&format!("pkcs8 -topk8 -v2 {cipher} -scrypt{work}"), format, Some(PASSWORD));
            }
            match own {
                "rsa" => add("rsa -traditional", format, None),
                "ec" => {
                    for own in ["ec", "ec -no_public", "ec -conv_form compressed", "ec -param_enc explicit"] {
                        add(own, format, None);
                    }
                }
                _ => {}
            }
        }
        if !own.is_empty() {
            for cipher in TRADITIONAL_CIPHERS {
                let traditional = if own == "rsa" { " -traditional" } else { "" };
                add(&format!("{own}{traditional} {cipher}"), "PEM", Some(PASSWORD));
            }
        }
        for scheme in ["PBE-SHA1-3DES", "PBE-SHA1-2DES", "PBE-SHA1-RC2-40", "PBE-SHA1-RC2-128"] {
            let legacy = if scheme.contains("RC2") { " -provider legacy -provider default" } else { "" };
            for password in [PASSWORD, "", "p\u{e4}ss \u{1f511}"] {
                add(&format!("pkcs8 -topk8 -v1 {scheme}{legacy}"), "DER", Some(password));
            }
        }
        add("pkcs8 -topk8", "PEM", Some(""));
        add("pkcs8 -topk8", "PEM", Some("p\u{e4}ss w\u{f6}rd"));
        add("pkcs8 -topk8 -iter 100000", "PEM", Some(&"x".repeat(1000)));
    }
    forms
}

/// Adds two lines to the list: one loads the identity from a file, the other from memory.
fn row(list: &mut Vec<u8>, status: &str, chain: &Path, key: Option<&Path>, password: Option<&[u8]>, says: &str) {
    for how in ["file", "memory"] {
        let key = key.map_or("-".to_owned(), |key| key.display().to_string());
        list.extend(format!("NETLIB_{status}\t{how}\t{}\t{key}\t", chain.display()).as_bytes());
        match password {
            None => list.push(b'-'),
            Some(password) => list.extend([b"+", password].concat()),
        }
        list.extend(format!("\t{says}\n").as_bytes());
    }
}

fn rows(form: &Form, scratch: &Path, list: &mut Vec<u8>) {
    let chain = scratch.join(format!("{}.pem", form.kind));
    let at = KINDS.iter().position(|(kind, ..)| *kind == form.kind).expect("a kind of the table");
    let other = scratch.join(format!("{}.pem", KINDS[(at + 1) % KINDS.len()].0));
    let (key, right) = (Some(form.file.as_path()), form.password.as_deref());
    row(list, "OK", &chain, key, right, "");
    row(list, "KEY_MISMATCH", &other, key, right, "does not belong to the first certificate");
    if right.is_some() {
        row(list, "PASSWORD_REQUIRED", &chain, key, None, "no password was given");
        row(list, "WRONG_PASSWORD", &chain, key, Some(b"another"), "the password for the private key");
        row(list, "PASSWORD_REQUIRED", &other, key, None, "no password was given");
    } else {
        row(list, "OK", &chain, key, Some(b"another"), "");
    }
}

/// Adds PEM files that contain the chain and the key, in either order and with text between them, and keys in the
/// format of `openssl ecparam`.
fn combined(forms: &[Form], scratch: &Path, list: &mut Vec<u8>) {
    let read = |path: &Path| fs::read(path).expect("it was made");
    for (i, form) in forms.iter().enumerate() {
        let certificate = scratch.join(format!("{}.pem", form.kind));
        let parameters = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
        let (chain, key, between) = match form.file.extension().and_then(|name| name.to_str()) {
            Some("PEM") => (read(&certificate), read(&form.file), &parameters[..]),
            _ => (der_of(&read(&certificate)), read(&form.file), &[][..]),
        };
        for (order, parts) in [[&chain, between, &key], [between, &key, &chain]].iter().enumerate() {
            let both = scratch.join(format!("both-{i}-{order}"));
            fs::write(&both, parts.concat()).expect("target is writable");
            row(list, "OK", &both, None, form.password.as_deref(), "");
            if form.password.is_some() {
                row(list, "PASSWORD_REQUIRED", &both, None, None, "");
            }
        }
    }
}

/// Converts the first certificate of a PEM text to DER.
fn der_of(pem: &[u8]) -> Vec<u8> {
    use rustls_pki_types::pem::PemObject;
    rustls_pki_types::CertificateDer::from_pem_slice(pem).expect("openssl wrote it").to_vec()
}

fn refused(env: &Env, scratch: &Path, list: &mut Vec<u8>, report: &mut Report) {
    let mut take = |command: String, password: Option<&[u8]>, file: &Path, says: &str| {
        if let Err(text) = openssl(env, &command) {
            return report.fail(text);
        }
        row(list, "UNSUPPORTED", &scratch.join("p-256.pem"), Some(file), password, says);
    };
    for (name, how, says) in UNUSABLE {
        let file = scratch.join(format!("{name}.key"));
        take(format!("genpkey {how} -out {}", file.display()), None, &file, says);
    }
    for (i, (kind, how, says)) in UNSUPPORTED.iter().enumerate() {
        let file = scratch.join(format!("unsupported-{i}.key"));
        let from = scratch.join(format!("{kind}.key"));
        let command = format!("{how} -passout pass:secret -in {} -out {}", from.display(), file.display());
        take(command, Some(b"secret"), &file, says);
    }
    let own = scratch.join("secp256k1-own.key");
    let from = scratch.join("secp256k1.key");
    take(format!("ec -in {} -out {}", from.display(), own.display()), None, &own, "secp256k1 (1.3.132.0.10)");
}
