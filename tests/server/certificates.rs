//! Creates certificate chains of root, intermediate and leaf; some of the leaves have one defect.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The CA that the server names in its certificate requests. This CA issued tests/certs/client.pem.
const CLIENTS_CA: &[u8] = include_bytes!("../certs/ca.pem");

const BOTH: &[&SupportedProtocolVersion] = &[&TLS12, &TLS13];

/// The serial number of the revoked leaf.
const REVOKED: u64 = 0x7e57;

pub struct Certificates {
    /// The root that clients trust for servers; `proxy_root_pem` is the root that they trust for proxies.
    pub root_pem: String,
    pub proxy_root_pem: String,
    /// The CRLs of the root for servers and of its intermediate.
    pub crl_pem: String,
    /// A server with a valid certificate for localhost, 127.0.0.1 and ::1, which sends the whole chain.
    pub good: Arc<ServerConfig>,
    /// The certificate of the server `good`.
    pub good_der: CertificateDer<'static>,
    pub expired: Arc<ServerConfig>,
    /// A server with a certificate for other.test only.
    pub wrong_host: Arc<ServerConfig>,
    /// A server like `good`, with a certificate from a root that clients do not trust.
    pub untrusted: Arc<ServerConfig>,
    /// A server like `good`, with a revoked certificate.
    pub revoked: Arc<ServerConfig>,
    /// A server like `good` that supports only TLS 1.2. `tls13` supports only TLS 1.3.
    pub tls12: Arc<ServerConfig>,
    pub tls13: Arc<ServerConfig>,
    /// A server with the certificate of the server `good`. Refuses clients that send no certificate of the CA
    /// `CLIENTS_CA`.
    pub known_clients: Arc<ServerConfig>,
    /// A server with a certificate for origin.test and *.origin.test, names that only a proxy resolves.
    pub origin: Arc<ServerConfig>,
    /// A proxy with a certificate for localhost, from the root for proxies.
    pub proxy: Arc<ServerConfig>,
    /// A proxy with a certificate for other.test, from the root for proxies.
    pub wrong_proxy: Arc<ServerConfig>,
}

pub fn make() -> Result<Certificates> {
    let trusted = Authority::new("netlib test")?;
    let stranger = Authority::new("netlib stranger")?;
    let proxies = Authority::new("netlib proxy")?;
    let local = ["localhost", "127.0.0.1", "::1"];
    let good = trusted.leaf(&local, Flaw::None)?;
    Ok(Certificates {
        root_pem: trusted.root_pem.clone(),
        proxy_root_pem: proxies.root_pem.clone(),
        crl_pem: trusted.revocations()?,
        good: good.server(BOTH)?,
        good_der: good.chain[0].clone(),
        expired: trusted.leaf(&local, Flaw::Expired)?.server(BOTH)?,
        wrong_host: trusted.leaf(&["other.test"], Flaw::None)?.server(BOTH)?,
        untrusted: stranger.leaf(&local, Flaw::None)?.server(BOTH)?,
        revoked: trusted.leaf(&local, Flaw::Revoked)?.server(BOTH)?,
        tls12: good.server(&[&TLS12])?,
        tls13: good.server(&[&TLS13])?,
        known_clients: good.server_for_known_clients()?,
        origin: trusted.leaf(&["origin.test", "*.origin.test"], Flaw::None)?.server(BOTH)?,
        proxy: proxies.leaf(&local, Flaw::None)?.server(BOTH)?,
        wrong_proxy: proxies.leaf(&["other.test"], Flaw::None)?.server(BOTH)?,
    })
}

enum Flaw {
    None,
    Expired,
    Revoked,
}

struct Authority {
    root_pem: String,
    root: Issuer<'static, KeyPair>,
    intermediate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Result<Authority> {
        let root_key = KeyPair::generate()?;
        let root_params = authority_params(&format!("{name} root"))?;
        let root_pem = root_params.self_signed(&root_key)?.pem();
        let root = Issuer::new(root_params, root_key);
        let key = KeyPair::generate()?;
        let params = authority_params(&format!("{name} intermediate"))?;
        let intermediate = params.signed_by(&key, &root)?.der().clone();
        Ok(Authority { root_pem, root, intermediate, issuer: Issuer::new(params, key) })
    }

    /// Issues a leaf for `names`, and returns a chain of the leaf and the intermediate.
    fn leaf(&self, names: &[&str], flaw: Flaw) -> Result<Leaf> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "netlib test leaf");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        match flaw {
            Flaw::None => {}
            Flaw::Expired => {
                params.not_before = date_time_ymd(2020, 1, 1);
                params.not_after = date_time_ymd(2021, 1, 1);
            }
            Flaw::Revoked => params.serial_number = Some(SerialNumber::from(REVOKED)),
        }
        let key = KeyPair::generate()?;
        let leaf = params.signed_by(&key, &self.issuer)?;
        Ok(Leaf {
            chain: vec![leaf.der().clone(), self.intermediate.clone()],
            key: PrivateKeyDer::try_from(key.serialize_der())?,
        })
    }

    /// Returns two CRLs: the root's CRL is empty, and the intermediate's CRL lists one leaf.
    fn revocations(&self) -> Result<String> {
        let list = |serials: &[u64], issuer: &Issuer<'static, KeyPair>| {
            let revoked = |serial: &u64| RevokedCertParams {
                serial_number: SerialNumber::from(*serial),
                revocation_time: date_time_ymd(2020, 1, 1),
                reason_code: None,
                invalidity_date: None,
            };
            let params = CertificateRevocationListParams {
                this_update: date_time_ymd(2020, 1, 1),
                next_update: date_time_ymd(2100, 1, 1),
                crl_number: SerialNumber::from(1),
                issuing_distribution_point: None,
                revoked_certs: serials.iter().map(revoked).collect(),
                key_identifier_method: KeyIdMethod::Sha256,
            };
            params.signed_by(issuer)?.pem()
        };
        Ok(list(&[], &self.root)? + &list(&[REVOKED], &self.issuer)?)
    }
}

struct Leaf {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Leaf {
    fn server(&self, versions: &[&'static SupportedProtocolVersion]) -> Result<Arc<ServerConfig>> {
        let config = ServerConfig::builder_with_protocol_versions(versions).with_no_client_auth();
        Ok(Arc::new(config.with_single_cert(self.chain.clone(), self.key.clone_key())?))
    }

    /// Returns a configuration that refuses clients without a certificate.
    fn server_for_known_clients(&self) -> Result<Arc<ServerConfig>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(CLIENTS_CA)?)?;
        let clients = WebPkiClientVerifier::builder(Arc::new(roots)).build()?;
        let config = ServerConfig::builder().with_client_cert_verifier(clients);
        Ok(Arc::new(config.with_single_cert(self.chain.clone(), self.key.clone_key())?))
    }
}

fn authority_params(name: &str) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}
