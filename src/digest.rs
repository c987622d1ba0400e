//! Digests of settings: SHA-256 over the name and the value of each setting. A length precedes each name and value, so
//! two different lists of settings never give the same input to SHA-256.

use std::ffi::CString;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::error::Result;
use crate::memory;

pub(crate) type Digest = [u8; 32];

/// Computes a digest of settings.
pub(crate) struct Settings(Sha256);

impl Settings {
    /// Begins a digest. `of` names the object that has the settings, so that equal settings of different objects have
    /// different digests.
    pub(crate) fn new(of: &str) -> Settings {
        Settings(Sha256::new()).with("netlib", of.as_bytes())
    }

    /// Adds a setting to the digest.
    pub(crate) fn with(mut self, name: &str, value: &[u8]) -> Settings {
        for bytes in [name.as_bytes(), value] {
            self.0.update((bytes.len() as u64).to_be_bytes());
            self.0.update(bytes);
        }
        self
    }

    /// Adds an optional setting to the digest. An absent value and an empty value have different digests.
    pub(crate) fn with_option(self, name: &str, value: Option<&[u8]>) -> Settings {
        let there = self.with(name, &[u8::from(value.is_some())]);
        match value {
            Some(value) => there.with("value", value),
            None => there,
        }
    }

    pub(crate) fn with_number(self, name: &str, value: impl Into<i128>) -> Settings {
        self.with(name, &value.into().to_be_bytes())
    }

    /// Adds to the digest a list whose order matters.
    pub(crate) fn with_list<'a>(self, name: &str, values: impl Iterator<Item = &'a [u8]>) -> Settings {
        let (list, count) =
            values.fold((Settings::new(name), 0_u64), |(list, count), value| (list.with("item", value), count + 1));
        self.with_number(name, count).with("items", &list.finish())
    }

    /// Adds to the digest a set of digests. The order of the digests does not matter, and repeated digests count once.
    pub(crate) fn with_set(self, name: &str, digests: impl Iterator<Item = Digest>) -> Result<Settings> {
        let mut set = Vec::new();
        for digest in digests {
            memory::push(&mut set, digest, name)?;
        }
        set.sort_unstable();
        set.dedup();
        Ok(self.with_list(name, set.iter().map(Digest::as_slice)))
    }

    pub(crate) fn finish(self) -> Digest {
        self.0.finalize().into()
    }

    /// Returns the digest in lower-case hex.
    pub(crate) fn finish_hex(self) -> CString {
        let text = self.finish().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        CString::new(text).unwrap_or_default()
    }
}

pub(crate) fn of(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_settings_have_different_digests() {
        let list = |items: &[&str]| Settings::new("x").with_list("l", items.iter().map(|item| item.as_bytes()));
        let set = |items: &[&str]| Settings::new("x").with_set("l", items.iter().map(|item| of(item.as_bytes())));
        let mut seen = vec![
            Settings::new("x").finish(),
            Settings::new("y").finish(),
            Settings::new("x").with("a", b"").finish(),
            Settings::new("x").with("", b"a").finish(),
            Settings::new("x").with("a", b"bc").finish(),
            Settings::new("x").with("ab", b"c").finish(),
            Settings::new("x").with("a", b"").with("bc", b"").finish(),
            Settings::new("x").with_option("a", None).finish(),
            Settings::new("x").with_option("a", Some(b"")).finish(),
            Settings::new("x").with_option("a", None).with("value", b"").finish(),
            Settings::new("x").with_number("a", 1).finish(),
            Settings::new("x").with_number("a", -1).finish(),
            list(&[]).finish(),
            list(&["a", "b"]).finish(),
            list(&["b", "a"]).finish(),
            list(&["ab"]).finish(),
            list(&["a", "b", ""]).finish(),
            list(&["a"]).with("item", b"b").finish(),
            set(&["a"]).unwrap().finish(),
            set(&["a", "b"]).unwrap().finish(),
        ];
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
        assert_eq!(set(&["a", "b"]).unwrap().finish(), set(&["b", "a", "b"]).unwrap().finish());
    }

    #[test]
    fn a_digest_as_text_has_64_lower_case_hex_digits() {
        let text = Settings::new("x").finish_hex();
        assert!(text.count_bytes() == 64 && text.to_bytes().iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    }
}
