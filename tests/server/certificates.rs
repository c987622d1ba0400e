//! Certificate chains made on the spot: root → intermediate → leaf, and leaves with one thing wrong each.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub struct Certificates {
    /// The root that clients are to trust.
    pub root_pem: String,
    /// For localhost, 127.0.0.1 and ::1, with the whole chain.
    pub good: Arc<ServerConfig>,
    pub expired: Arc<ServerConfig>,
    /// For other.test only.
    pub wrong_host: Arc<ServerConfig>,
    /// As `good`, but of a root that nobody was told about.
    pub untrusted: Arc<ServerConfig>,
}

pub fn make() -> Result<Certificates> {
    let trusted = Authority::new("netlib test")?;
    let stranger = Authority::new("netlib stranger")?;
    let local = ["localhost", "127.0.0.1", "::1"];
    Ok(Certificates {
        root_pem: trusted.root_pem.clone(),
        good: trusted.server(&local, Validity::Open)?,
        expired: trusted.server(&local, Validity::Past)?,
        wrong_host: trusted.server(&["other.test"], Validity::Open)?,
        untrusted: stranger.server(&local, Validity::Open)?,
    })
}

enum Validity {
    Open,
    Past,
}

struct Authority {
    root_pem: String,
    intermediate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Result<Authority> {
        let root_key = KeyPair::generate()?;
        let root_params = authority_params(&format!("{name} root"))?;
        let root = root_params.self_signed(&root_key)?;
        let key = KeyPair::generate()?;
        let params = authority_params(&format!("{name} intermediate"))?;
        let intermediate = params.signed_by(&key, &Issuer::from_params(&root_params, &root_key))?;
        Ok(Authority {
            root_pem: root.pem(),
            intermediate: intermediate.der().clone(),
            issuer: Issuer::new(params, key),
        })
    }

    /// A server with a leaf for `names`; it sends the leaf and the intermediate.
    fn server(&self, names: &[&str], validity: Validity) -> Result<Arc<ServerConfig>> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "netlib test leaf");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        if let Validity::Past = validity {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let key = KeyPair::generate()?;
        let leaf = params.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::try_from(key.serialize_der())?;
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone(), self.intermediate.clone()], key)?;
        Ok(Arc::new(config))
    }
}

fn authority_params(name: &str) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}
