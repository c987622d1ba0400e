//! Computes the digest of a TLS context. Contexts with equal digests accept the same servers, present the same
//! identity, and behave the same. The digest depends on the contents of the files that the context has read, not on
//! their paths, and on the path of the key log file.

use std::ffi::{CStr, CString};

use rustls_pki_types::TrustAnchor;

use super::Context;
use crate::digest::{Digest, Settings};
use crate::error::Result;
use crate::fork;
use crate::tls::verify::Origin;

impl Context {
    /// Returns the digest in lower-case hex. The first call computes the digest.
    pub fn digest(&self) -> Result<&CStr> {
        if let Some(text) = self.digest.get() {
            return Ok(text);
        }
        let text = self.settings()?.finish_hex();
        Ok(fork::get_or_init::<CString>(&self.digest, || text))
    }

    fn settings(&self) -> Result<Settings> {
        let policy = &*self.policy;
        let anchors = &policy.anchors;
        let certificates = anchors.origins().iter().flat_map(|origin| &origin.certificates);
        let identity = self.identity.iter().flat_map(|identity| &identity.cert);
        // The cipher suites determine the TLS versions, because each suite belongs to one version and each offered
        // version has a suite.
        let suites = self.offer.suites.iter().map(|suite| u16::from(suite.suite()).to_be_bytes());
        let groups = self.offer.groups.iter().map(|group| u16::from(group.name()).to_be_bytes());
        Ok(self
            .options
            .plain_settings(Settings::new("tls context"))
            .with_set(
                "roots",
                anchors.roots().iter().zip(anchors.origins()).map(|(root, origin)| anchor(root, origin)),
            )?
            .with_set("certificates", certificates.map(|certificate| certificate.digest))?
            .with_set("pinned authorities", policy.pins.anchors())?
            .with_set("crls", policy.crls.iter().map(|crl| crl.digest))?
            .with_set("pins", self.options.pins.iter().map(crate::tls::verify::pins::Pin::digest))?
            .with_number("client mode", self.options.client_mode() as i32)
            .with_number("server mode", self.options.server_mode() as i32)
            .with_number("verify flags", self.verify_flags)
            .with_number("check hostname", i32::from(self.check_hostname))
            .with_list("suites", suites.collect::<Vec<_>>().iter().map(<[u8; 2]>::as_slice))
            .with_list("groups", groups.collect::<Vec<_>>().iter().map(<[u8; 2]>::as_slice))
            .with_list("protocols", self.alpn.iter().map(|protocol| protocol.to_bytes()))
            .with_list("identity", identity.map(|der| der.as_ref()))
            .with_option("key log", self.keylog_file().map(CStr::to_bytes)))
    }
}

fn anchor(anchor: &TrustAnchor<'static>, origin: &Origin) -> Digest {
    Settings::new("anchor")
        .with("subject", &anchor.subject)
        .with("key", &anchor.subject_public_key_info)
        .with_option("constraints", anchor.name_constraints.as_ref().map(|der| der.as_ref()))
        .with_number("built in", i32::from(origin.is_built_in))
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_any_field_of_an_authority_changes_its_digest() {
        let digest_with_origin =
            |subject: &'static [u8], key: &'static [u8], constraints: Option<&'static [u8]>, is_built_in| {
                let root = TrustAnchor {
                    subject: subject.into(),
                    subject_public_key_info: key.into(),
                    name_constraints: constraints.map(Into::into),
                };
                anchor(&root, &Origin { is_built_in, ..Origin::default() })
            };
        let digest_of = |subject, key, constraints| digest_with_origin(subject, key, constraints, false);
        let mut digests = vec![
            digest_of(b"a", b"b", None),
            digest_of(b"x", b"b", None),
            digest_of(b"a", b"x", None),
            digest_of(b"a", b"b", Some(b"")),
            digest_of(b"a", b"b", Some(b"x")),
            digest_of(b"ab", b"", None),
            digest_with_origin(b"a", b"b", None, true),
        ];
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!((digests.len(), digest_of(b"a", b"b", None)), (count, digest_of(b"a", b"b", None)));
    }
}
