//! Generates self-signed trust anchors of every kind, all with the same name and key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SigningKey, date_time_ymd,
};

/// Returns the roots as PEM, each with a description. `named` has the parameters of an authority.
pub fn roots(named: &CertificateParams, key: &KeyPair, other: &Issuer<'_, KeyPair>) -> Vec<(&'static str, String)> {
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, Other, ServerAuth};
    use KeyUsagePurpose::{CrlSign, DigitalSignature, KeyCertSign};
    let with = |change: &dyn Fn(&mut CertificateParams)| {
        let mut params = named.clone();
        change(&mut params);
        params
    };
    let kind = |is_ca: IsCa, usages: &[KeyUsagePurpose]| {
        with(&|params| (params.is_ca, params.key_usages) = (is_ca, usages.to_vec()))
    };
    let purposes =
        |purposes: &[ExtendedKeyUsagePurpose]| with(&|params| params.extended_key_usages = purposes.to_vec());
    let critical = |oid: &[u64], content: &[u8]| {
        let mut extension = CustomExtension::from_oid_content(oid, content.to_vec());
        extension.set_criticality(true);
        with(&|params| params.custom_extensions = vec![extension.clone()])
    };
    let ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pathlen = |len| kind(IsCa::Ca(BasicConstraints::Constrained(len)), &[KeyCertSign, CrlSign]);
    let netscape = CustomExtension::from_oid_content(&[2, 16, 840, 1, 113_730, 1, 1], vec![3, 2, 2, 4]);
    let kinds = [
        ("authority", named.clone()),
        ("without keyUsage", kind(ca, &[])),
        ("CA:FALSE", kind(IsCa::ExplicitNoCa, &[])),
        ("CA:FALSE, keyCertSign", kind(IsCa::ExplicitNoCa, &[KeyCertSign])),
        ("nothing", kind(IsCa::NoCa, &[])),
        ("keyCertSign alone", kind(IsCa::NoCa, &[KeyCertSign])),
        ("digitalSignature alone", kind(IsCa::NoCa, &[DigitalSignature])),
        ("CA:TRUE, digitalSignature", kind(ca, &[DigitalSignature])),
        ("pathlen 0", pathlen(0)),
        ("pathlen 1", pathlen(1)),
        ("clients", purposes(&[ClientAuth])),
        ("servers", purposes(&[ServerAuth])),
        ("both purposes", purposes(&[ServerAuth, ClientAuth])),
        ("any purpose", purposes(&[Any])),
        ("SGC", purposes(&[Other(vec![1, 3, 6, 1, 4, 1, 311, 10, 3, 3])])),
        ("critical 1.2.3.4", critical(&[1, 2, 3, 4], &[5, 0])),
        ("critical policyConstraints", critical(&[2, 5, 29, 36], &[0x30, 3, 0x80, 1, 9])),
        ("expired", with(&|params| params.not_after = date_time_ymd(2021, 1, 1))),
        ("future", with(&|params| params.not_before = date_time_ymd(2080, 1, 1))),
        (
            "nsCertType",
            with(&|params| {
                (params.is_ca, params.key_usages) = (IsCa::NoCa, vec![]);
                params.custom_extensions = vec![netscape.clone()];
            }),
        ),
    ];
    let made = |params: &CertificateParams| params.self_signed(key).expect("a certificate");
    let mut roots: Vec<_> = kinds.iter().map(|(what, params)| (*what, made(params).pem())).collect();
    roots.push(("version 1", version_1(made(named).der(), key)));
    let issued = named.signed_by(key, other).expect("a certificate");
    roots.push(("version 1 by another", version_1(issued.der(), other.key())));
    roots
}

/// Returns the certificate as one of X.509 version 1, which has neither a version number nor extensions, signed with
/// `key`.
fn version_1(der: &[u8], key: &KeyPair) -> String {
    let (_, certificate, _) = split(der);
    let (_, fields, rest) = split(certificate);
    let (_, _, after) = split(rest);
    let algorithm = &rest[..rest.len() - after.len()];
    let (mut left, mut kept) = (fields, Vec::new());
    while !left.is_empty() {
        let (tag, _, next) = split(left);
        if ![0xa0, 0xa3].contains(&tag) {
            kept.extend_from_slice(&left[..left.len() - next.len()]);
        }
        left = next;
    }
    let signed = element(0x30, &kept);
    let signature = [&[0], &*key.sign(&signed).expect("a signature")].concat();
    let whole = element(0x30, &[&*signed, algorithm, &element(3, &signature)].concat());
    let text = BASE64.encode(whole);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).expect("ASCII")).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// Returns the tag and the content of the first DER element, and the bytes after the element.
fn split(der: &[u8]) -> (u8, &[u8], &[u8]) {
    let (start, len) = match der[1] {
        len @ ..=0x7f => (2, usize::from(len)),
        0x81 => (3, usize::from(der[2])),
        _ => (4, usize::from(der[2]) << 8 | usize::from(der[3])),
    };
    (der[0], &der[start..start + len], &der[start + len..])
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = match content.len() {
        len @ 0..0x80 => vec![len as u8],
        len @ 0x80..0x100 => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [&[tag], &*len, content].concat()
}
