//! Generates self-signed trust anchors of every kind, all with the same name and key.

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

use super::resign::version_1;

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
