//! Parses a list of key exchange groups in OpenSSL's syntax: names in order of preference, separated by ":".

use std::ffi::CStr;

use rustls::NamedGroup;
use rustls::crypto::{SupportedKxGroup, aws_lc_rs::kx_group};

use super::code_points;
use crate::error::{Advice, Error, Result, truncated};
use crate::status::Status;

/// The longest accepted list. The names of all supported groups need less than 100 bytes; the rest leaves room for
/// unknown names after "?".
const MAX_STRING: usize = 4096;

pub(crate) type Group = &'static dyn SupportedKxGroup;

/// The supported groups with the alternative names that OpenSSL accepts. The IANA names are in
/// [`code_points::key_exchange_group`].
const KNOWN: [(Group, &[&str]); 7] = [
    (kx_group::X25519MLKEM768, &[]),
    (kx_group::X25519, &[]),
    (kx_group::SECP256R1, &["P-256", "prime256v1"]),
    (kx_group::SECP384R1, &["P-384"]),
    (kx_group::SECP256R1MLKEM768, &[]),
    (kx_group::MLKEM768, &[]),
    (kx_group::MLKEM1024, &[]),
];

/// Returns the default groups: the post-quantum hybrid X25519MLKEM768, X25519, P-256 and P-384.
pub(crate) fn default_groups() -> Vec<Group> {
    KNOWN.iter().take(4).map(|(group, _)| *group).collect()
}

pub(crate) fn name(group: Group) -> Option<&'static CStr> {
    code_points::key_exchange_group(group.name())
}

/// Parses a list of group names and returns the groups in the list's order.
pub(crate) fn parse(list: &[u8]) -> Result<Vec<Group>> {
    if list.len() > MAX_STRING {
        let message = format!("groups must have at most {MAX_STRING} bytes; it has {}", list.len());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    for item in list.split(|byte| *byte == b':') {
        let (word, may_be_unknown) = item.strip_prefix(b"?").map_or((item, false), |word| (word, true));
        let refused =
            |message: String| Error::new(Status::InvalidArgument, format!("groups {message} at byte {at}")).at(at);
        if word.is_empty() {
            return Err(refused("has no name".to_owned()));
        }
        match KNOWN.iter().find(|(group, others)| is_called(group.name(), others, word)) {
            Some((group, _)) if groups.iter().any(|other| other.name() == group.name()) => {
                let name = name(*group).unwrap_or_default().to_string_lossy();
                return Err(refused(format!("lists {name} twice")));
            }
            Some((group, _)) => groups.push(*group),
            None if may_be_unknown => {}
            None => {
                let word = word.escape_ascii().to_string();
                let error =
                    refused(format!("has \"{}\", which is not one of {},", truncated(&word), supported_names()));
                let advice = if item.iter().any(|byte| b", ;".contains(byte)) {
                    Advice::text("separate the names with \":\"")
                } else {
                    Advice::text("to skip unknown names: put \"?\" before them")
                };
                return Err(error.with_advice(advice));
            }
        }
        at += item.len() + 1;
    }
    if groups.is_empty() {
        let message = format!("groups selects none of {}", supported_names());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(groups)
}

fn is_called(group: NamedGroup, others: &[&str], word: &[u8]) -> bool {
    code_points::key_exchange_group(group).is_some_and(|name| name.to_bytes().eq_ignore_ascii_case(word))
        || others.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(word))
}

fn supported_names() -> String {
    let names = KNOWN.iter().filter_map(|(group, _)| name(*group)).map(CStr::to_string_lossy);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use rustls::crypto::aws_lc_rs::{ALL_KX_GROUPS, DEFAULT_KX_GROUPS};

    use super::*;

    fn joined(groups: &[Group]) -> String {
        groups.iter().map(|group| name(*group).unwrap().to_str().unwrap()).collect::<Vec<_>>().join(":")
    }

    #[test]
    fn supported_and_default_groups_are_those_of_the_crypto_provider() {
        for group in ALL_KX_GROUPS {
            assert!(KNOWN.iter().any(|(known, _)| known.name() == group.name()), "{group:?}");
        }
        assert_eq!(KNOWN.len(), ALL_KX_GROUPS.len());
        assert_eq!(joined(&default_groups()), "X25519MLKEM768:x25519:secp256r1:secp384r1");
        assert_eq!(joined(&default_groups()), joined(DEFAULT_KX_GROUPS));
    }

    #[test]
    fn group_lists_are_parsed_in_order_or_refused_with_the_reason() {
        const ALL: &str = "X25519MLKEM768, x25519, secp256r1, secp384r1, SecP256r1MLKEM768, MLKEM768, MLKEM1024";
        let none = format!("groups selects none of {ALL}");
        let unknown =
            |word: &str, at: usize| format!("groups has \"{word}\", which is not one of {ALL}, at byte {at}");
        let long = "?".repeat(MAX_STRING + 1);
        for (list, expected) in [
            ("x25519", Ok("x25519")),
            ("X25519MLKEM768:x25519:secp256r1:secp384r1", Ok("X25519MLKEM768:x25519:secp256r1:secp384r1")),
            ("P-384:prime256v1:X25519", Ok("secp384r1:secp256r1:x25519")),
            ("p-256:PRIME256V1", Err((Some(6), "groups lists secp256r1 twice at byte 6".to_owned()))),
            ("secp256R1:mlkem1024", Ok("secp256r1:MLKEM1024")),
            ("?x448:secp256r1mlkem768:?x25519", Ok("SecP256r1MLKEM768:x25519")),
            ("x25519:x448", Err((Some(7), unknown("x448", 7)))),
            ("P-521", Err((Some(0), unknown("P-521", 0)))),
            (" x25519", Err((Some(0), unknown(" x25519", 0)))),
            ("x25519:\n", Err((Some(7), unknown("\\n", 7)))),
            ("", Err((Some(0), "groups has no name at byte 0".to_owned()))),
            ("x25519::P-256", Err((Some(7), "groups has no name at byte 7".to_owned()))),
            ("x25519:", Err((Some(7), "groups has no name at byte 7".to_owned()))),
            ("x25519:?", Err((Some(7), "groups has no name at byte 7".to_owned()))),
            ("?x448:?P-521", Err((None, none))),
            (long.as_str(), Err((None, "groups must have at most 4096 bytes; it has 4097".to_owned()))),
        ] {
            match (parse(list.as_bytes()), expected) {
                (Ok(groups), Ok(expected)) => assert_eq!(joined(&groups), expected, "{list}"),
                (Err(error), Err((offset, message))) => assert_eq!(
                    (error.status(), error.offset(), error.message()),
                    (Status::InvalidArgument, offset, message.as_str())
                ),
                (result, _) => panic!("{list}: {result:?}"),
            }
        }
        assert!(parse(b"\xff\xfe").is_err());
        for (list, advice) in [
            ("x448", "to skip unknown names: put \"?\" before them"),
            ("P-256,P-384", "separate the names with \":\""),
            ("x25519:P-256 P-384", "separate the names with \":\""),
        ] {
            let error = parse(list.as_bytes()).unwrap_err();
            assert_eq!(error.advice(), Some(&Advice::text(advice)), "{list}");
        }
    }
}
