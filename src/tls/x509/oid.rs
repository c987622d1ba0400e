//! Object identifiers in DER.

use std::fmt;

/// The content of an OBJECT IDENTIFIER. `Display` writes it in dotted form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oid<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Oid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends_whole = self.0.last().is_some_and(|last| *last < 0x80);
        // 18 groups of seven bits fit u128. Longer arcs, which no known identifier has, are shown in hex.
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
                // The first number encodes the first two arcs. The first arc is 0, 1 or 2.
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

/// 2.5.29.14, .15, .17, .19, .35, .37
pub(crate) const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
pub(crate) const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
pub(crate) const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
pub(crate) const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
pub(crate) const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
pub(crate) const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];

/// 2.5.29.30, .31, .32, .33, .36, .54
pub(crate) const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
pub(crate) const CRL_DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 0x1f];
pub(crate) const CERTIFICATE_POLICIES: &[u8] = &[0x55, 0x1d, 0x20];
pub(crate) const POLICY_MAPPINGS: &[u8] = &[0x55, 0x1d, 0x21];
pub(crate) const POLICY_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x24];
pub(crate) const INHIBIT_ANY_POLICY: &[u8] = &[0x55, 0x1d, 0x36];

/// 2.16.840.1.113730.1.1
pub(crate) const NETSCAPE_CERT_TYPE: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x86, 0xf8, 0x42, 0x01, 0x01];

/// 1.3.6.1.5.5.7.1.1, 1.3.6.1.5.5.7.48.2
pub(crate) const AUTHORITY_INFO_ACCESS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 1];
pub(crate) const CA_ISSUERS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 48, 2];

/// 2.5.29.37.0, 1.3.6.1.5.5.7.3.1, .2
pub(crate) const ANY_PURPOSE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
pub(crate) const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
pub(crate) const CLIENT_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 2];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_dotted_form() {
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
