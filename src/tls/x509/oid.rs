//! Formats object identifiers, and defines constants for those that netlib looks for.

use std::fmt;

use pkcs5::der::asn1::ObjectIdentifier;

/// An OBJECT IDENTIFIER in DER, without tag and length. `Display` writes the dotted form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oid<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Oid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends_whole = self.0.last().is_some_and(|last| *last < 0x80);
        // A u128 holds 18 groups of seven bits. An identifier with a longer arc, which no known identifier has, is
        // written in hex digits.
        let too_large = self.0.split(|byte| *byte < 0x80).any(|group| group.len() > 17);
        if !ends_whole || too_large {
            f.write_str("#")?;
            return self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        let mut arc = 0u128;
        let mut first = true;
        for byte in self.0 {
            arc = arc << 7 | u128::from(byte & 0x7f);
            if *byte >= 0x80 {
                continue;
            }
            if first {
                // The first number encodes two arcs as 40 * first + second. The first arc is 0, 1 or 2.
                let top = (arc / 40).min(2);
                write!(f, "{top}.{}", arc - top * 40)?;
            } else {
                write!(f, ".{arc}")?;
            }
            (arc, first) = (0, false);
        }
        Ok(())
    }
}

/// Defines the content bytes of object identifiers from their dotted form.
macro_rules! object_identifiers {
    ($($name:ident = $dotted:literal)*) => {
        $(pub(crate) const $name: &[u8] = {
            const OID: ObjectIdentifier = ObjectIdentifier::new_unwrap($dotted);
            OID.as_bytes()
        };)*
    };
}

// Extensions.
object_identifiers! {
    SUBJECT_KEY_ID = "2.5.29.14"
    KEY_USAGE = "2.5.29.15"
    SUBJECT_ALT_NAME = "2.5.29.17"
    BASIC_CONSTRAINTS = "2.5.29.19"
    NAME_CONSTRAINTS = "2.5.29.30"
    CRL_DISTRIBUTION_POINTS = "2.5.29.31"
    CERTIFICATE_POLICIES = "2.5.29.32"
    POLICY_MAPPINGS = "2.5.29.33"
    AUTHORITY_KEY_ID = "2.5.29.35"
    POLICY_CONSTRAINTS = "2.5.29.36"
    EXTENDED_KEY_USAGE = "2.5.29.37"
    INHIBIT_ANY_POLICY = "2.5.29.54"
    NETSCAPE_CERT_TYPE = "2.16.840.1.113730.1.1"
    AUTHORITY_INFO_ACCESS = "1.3.6.1.5.5.7.1.1"
}

// The access method of authorityInfoAccess that locates the issuer's certificate.
object_identifiers! {
    CA_ISSUERS = "1.3.6.1.5.5.7.48.2"
}

// Purposes in the extKeyUsage extension.
object_identifiers! {
    ANY_PURPOSE = "2.5.29.37.0"
    SERVER_AUTH = "1.3.6.1.5.5.7.3.1"
    CLIENT_AUTH = "1.3.6.1.5.5.7.3.2"
}

// Types of public keys, and elliptic curves.
object_identifiers! {
    RSA = "1.2.840.113549.1.1.1"
    RSA_PSS = "1.2.840.113549.1.1.10"
    EC = "1.2.840.10045.2.1"
    DSA = "1.2.840.10040.4.1"
    ED25519 = "1.3.101.112"
    ED448 = "1.3.101.113"
    SECP224R1 = "1.3.132.0.33"
    SECP256R1 = "1.2.840.10045.3.1.7"
    SECP384R1 = "1.3.132.0.34"
    SECP521R1 = "1.3.132.0.35"
    SECP256K1 = "1.3.132.0.10"
    BRAINPOOL_P256R1 = "1.3.36.3.3.2.8.1.1.7"
    BRAINPOOL_P384R1 = "1.3.36.3.3.2.8.1.1.11"
    BRAINPOOL_P512R1 = "1.3.36.3.3.2.8.1.1.13"
}

// Signature algorithms and hashes. A signature with RSASSA-PSS, Ed25519 or Ed448 has the identifier of the key type.
object_identifiers! {
    MD2_WITH_RSA = "1.2.840.113549.1.1.2"
    MD5_WITH_RSA = "1.2.840.113549.1.1.4"
    SHA1_WITH_RSA = "1.2.840.113549.1.1.5"
    SHA1_WITH_RSA_OIW = "1.3.14.3.2.29"
    SHA224_WITH_RSA = "1.2.840.113549.1.1.14"
    SHA256_WITH_RSA = "1.2.840.113549.1.1.11"
    SHA384_WITH_RSA = "1.2.840.113549.1.1.12"
    SHA512_WITH_RSA = "1.2.840.113549.1.1.13"
    ECDSA_WITH_SHA1 = "1.2.840.10045.4.1"
    ECDSA_WITH_SHA224 = "1.2.840.10045.4.3.1"
    ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2"
    ECDSA_WITH_SHA384 = "1.2.840.10045.4.3.3"
    ECDSA_WITH_SHA512 = "1.2.840.10045.4.3.4"
    DSA_WITH_SHA1 = "1.2.840.10040.4.3"
    DSA_WITH_SHA224 = "2.16.840.1.101.3.4.3.1"
    DSA_WITH_SHA256 = "2.16.840.1.101.3.4.3.2"
    SHA1 = "1.3.14.3.2.26"
    SHA224 = "2.16.840.1.101.3.4.2.4"
    SHA256 = "2.16.840.1.101.3.4.2.1"
    SHA384 = "2.16.840.1.101.3.4.2.2"
    SHA512 = "2.16.840.1.101.3.4.2.3"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_identifiers_are_written_in_dotted_form() {
        for (bytes, expected) in [
            (&[0x55, 0x1d, 0x25, 0x00][..], "2.5.29.37.0"),
            (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], "1.2.840.113549.1.1.11"),
            (&[0x88, 0x37, 0x03], "2.999.3"),
            (&[0x00], "0.0"),
            (&[], "#"),
            (&[0x55, 0x9d], "#559d"),
            (&[0xff; 4], "#ffffffff"),
        ] {
            assert_eq!(Oid(bytes).to_string(), expected);
        }
        let mut largest = [0xff; 18];
        largest[17] = 0x7f;
        assert_eq!(Oid(&largest).to_string(), format!("2.{}", (1u128 << 126) - 1 - 80));
    }
}
