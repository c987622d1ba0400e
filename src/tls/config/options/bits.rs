//! OpenSSL's SSL_OP_ option bits (OP_ in Python) and their effect in netlib.

use crate::error::{Error, Result};
use crate::status::Status;

pub(crate) const NO_TICKET: i64 = 0x4000;
pub(crate) const CIPHER_SERVER_PREFERENCE: i64 = 0x0040_0000;
pub(crate) const NO_TLS12: i64 = 0x0800_0000;
pub(crate) const NO_TLS13: i64 = 0x2000_0000;

/// The bits that change netlib's behaviour, among the bits that urllib3 and Python's `ssl` set by default.
pub(crate) const DEFAULT: i64 = NO_TICKET | CIPHER_SERVER_PREFERENCE;

enum Meaning {
    /// Is always in effect, even if the application does not set the bit.
    Always,
    /// Changes netlib's behaviour.
    Governs,
    /// Has no effect, because the bit works around a defect in a feature that netlib lacks.
    Nothing,
    Refused(&'static str),
}

use Meaning::{Always, Governs, Nothing, Refused};

/// Each option bit with its OpenSSL name, without the prefix SSL_, and its effect in netlib.
const MEANINGS: &[(i64, &str, Meaning)] = &[
    (0x1, "OP_NO_EXTENDED_MASTER_SECRET", Refused("the extended master secret is always offered")),
    (0x2, "OP_CLEANSE_PLAINTEXT", Refused("plaintext buffers are reused, not cleared")),
    (0x4, "OP_LEGACY_SERVER_CONNECT", Nothing),
    (0x8, "OP_ENABLE_KTLS", Refused("kernel TLS is not used")),
    (0x10, "OP_TLSEXT_PADDING", Nothing),
    (0x40, "OP_SAFARI_ECDHE_ECDSA_BUG", Nothing),
    (0x80, "OP_IGNORE_UNEXPECTED_EOF", Refused("an end without close_notify is always NETLIB_TLS_TRUNCATED")),
    (0x100, "OP_ALLOW_CLIENT_RENEGOTIATION", Refused("there is no renegotiation")),
    (0x200, "OP_DISABLE_TLSEXT_CA_NAMES", Refused("a certificate request always lists the accepted authorities")),
    (0x400, "OP_ALLOW_NO_DHE_KEX", Refused("every session performs a new key exchange")),
    (0x800, "OP_DONT_INSERT_EMPTY_FRAGMENTS", Nothing),
    (0x1000, "OP_NO_QUERY_MTU", Refused("there is no DTLS")),
    (0x2000, "OP_COOKIE_EXCHANGE", Refused("there is no DTLS")),
    (NO_TICKET, "OP_NO_TICKET", Governs),
    (0x8000, "OP_CISCO_ANYCONNECT", Refused("there is no DTLS")),
    (0x1_0000, "OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION", Always),
    (0x2_0000, "OP_NO_COMPRESSION", Always),
    (0x4_0000, "OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION", Refused("there is no renegotiation")),
    (0x8_0000, "OP_NO_ENCRYPT_THEN_MAC", Always),
    (0x10_0000, "OP_ENABLE_MIDDLEBOX_COMPAT", Always),
    (0x20_0000, "OP_PRIORITIZE_CHACHA", Refused("a server uses one order of cipher suites for all clients")),
    (CIPHER_SERVER_PREFERENCE, "OP_CIPHER_SERVER_PREFERENCE", Governs),
    (0x80_0000, "OP_TLS_ROLLBACK_BUG", Refused("it disables the protection against version rollback")),
    // netlib's servers accept no early data. In older OpenSSL releases and in urllib3, this bit means NO_SSLv2.
    (0x100_0000, "OP_NO_ANTI_REPLAY", Nothing),
    (0x200_0000, "OP_NO_SSLv3", Always),
    (0x400_0000, "OP_NO_TLSv1", Always),
    (NO_TLS12, "OP_NO_TLSv1_2", Governs),
    (0x1000_0000, "OP_NO_TLSv1_1", Always),
    (NO_TLS13, "OP_NO_TLSv1_3", Governs),
    (0x4000_0000, "OP_NO_RENEGOTIATION", Always),
    (0x8000_0000, "OP_CRYPTOPRO_TLSEXT_BUG", Nothing),
    (0x1_0000_0000, "OP_NO_TX_CERTIFICATE_COMPRESSION", Always),
    (0x2_0000_0000, "OP_NO_RX_CERTIFICATE_COMPRESSION", Always),
    (0x4_0000_0000, "OP_ENABLE_KTLS_TX_ZEROCOPY_SENDFILE", Refused("kernel TLS is not used")),
    (0x8_0000_0000, "OP_PREFER_NO_DHE_KEX", Refused("every session performs a new key exchange")),
];

/// Fails for option bits that netlib cannot honour and for bits that OpenSSL does not define.
pub(crate) fn check(bits: i64) -> Result<()> {
    let unknown = MEANINGS.iter().fold(bits, |left, (bit, _, _)| left & !bit);
    if unknown != 0 {
        let message = format!("bits has unknown bits: {unknown:#x}");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    for (bit, name, meaning) in MEANINGS {
        if let Refused(reason) = meaning
            && bits & bit != 0
        {
            return Err(Error::new(Status::Unsupported, format!("{name}: {reason}")));
        }
    }
    if bits & NO_TLS12 != 0 && bits & NO_TLS13 != 0 {
        let message = "OP_NO_TLSv1_2 and OP_NO_TLSv1_3 together exclude every version";
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(())
}

/// Returns the option bits in effect if the application sets `bits`: these bits and the ones that always apply.
pub(crate) fn effective(bits: i64) -> i64 {
    MEANINGS.iter().filter(|(_, _, meaning)| matches!(meaning, Always)).fold(bits, |all, (bit, _, _)| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_and_supported_option_bits_are_accepted() {
        let mut seen = 0;
        for (bit, name, meaning) in MEANINGS {
            assert_eq!((bit.count_ones(), seen & bit), (1, 0), "{name}");
            seen |= bit;
            let expected = if matches!(meaning, Refused(_)) { Err(Status::Unsupported) } else { Ok(()) };
            assert_eq!(check(*bit).map_err(|error| error.status()), expected, "{name}");
        }
        for bit in (0..64).map(|shift| 1_i64 << shift).filter(|bit| seen & bit == 0) {
            let error = check(bit).unwrap_err();
            assert_eq!(error.message(), format!("bits has unknown bits: {bit:#x}"));
        }
        // The bits that Python 3.11 sets by default, without OP_IGNORE_UNEXPECTED_EOF, which netlib refuses.
        assert!(check(0x8252_0050).is_ok());
    }
}
