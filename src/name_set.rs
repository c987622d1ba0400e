//! Sets of method names or header names. Each name is a token (RFC 9110 section 5.6.2). The names of a set are sorted
//! and unique, and all are in upper case or all in lower case.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// The idempotent methods: repeating a request with an idempotent method has no further effect.
pub const IDEMPOTENT_METHODS: &[&CStr] = &[c"DELETE", c"GET", c"HEAD", c"OPTIONS", c"PUT", c"TRACE"];

/// The letter case of the names in a set: upper case for methods, lower case for header names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Upper,
    Lower,
}

impl Case {
    fn convert(self, byte: u8) -> u8 {
        match self {
            Case::Upper => byte.to_ascii_uppercase(),
            Case::Lower => byte.to_ascii_lowercase(),
        }
    }

    fn fold(self, name: &CStr) -> Result<CString> {
        copy_with(name, |byte| self.convert(byte))
    }
}

/// A set of method names or header names. The names are reference counted, so that a set built from other sets copies
/// no text.
#[derive(Clone, Debug)]
pub struct NameSet {
    names: Vec<Arc<CString>>,
    case: Case,
}

impl NameSet {
    pub(crate) const fn empty(case: Case) -> NameSet {
        NameSet { names: Vec::new(), case }
    }

    /// Makes a set of names. `what` is the kind of name for error messages, such as "method".
    pub(crate) fn new<'a>(case: Case, what: &str, names: impl IntoIterator<Item = &'a CStr>) -> Result<NameSet> {
        let mut set = NameSet::empty(case);
        for name in names {
            check_token(what, name)?;
            memory::push(&mut set.names, Arc::new(case.fold(name)?), "a list of names")?;
        }
        set.sort();
        Ok(set)
    }

    /// Makes a set of constant names, which must be tokens.
    pub(crate) fn of_constants(case: Case, names: &[&CStr]) -> NameSet {
        let folded = names.iter().map(|name| Arc::new(case.fold(name).unwrap_or_default()));
        let mut set = NameSet { names: folded.collect(), case };
        set.sort();
        set
    }

    /// Adds the names of another set, which must have the same letter case.
    pub(crate) fn add(&mut self, others: &NameSet) -> Result<()> {
        memory::grow(&mut self.names, others.names.len(), "a list of names")?;
        self.names.extend(others.names.iter().cloned());
        self.sort();
        Ok(())
    }

    fn sort(&mut self) {
        self.names.sort_unstable();
        self.names.dedup();
    }

    pub fn contains(&self, name: &[u8]) -> bool {
        let folded = || name.iter().map(|b| self.case.convert(*b));
        self.names.binary_search_by(|own| own.to_bytes().iter().copied().cmp(folded())).is_ok()
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn at(&self, index: usize) -> Option<&CStr> {
        self.names.get(index).map(|name| name.as_c_str())
    }

    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        self.names.iter().map(|name| name.as_c_str())
    }
}

/// Copies a text of any length. Fails if memory runs out.
pub(crate) fn copy(text: &CStr) -> Result<CString> {
    copy_with(text, |byte| byte)
}

/// Copies a text and applies `change` to each byte. `change` must not return NUL.
fn copy_with(text: &CStr, change: impl Fn(u8) -> u8) -> Result<CString> {
    let bytes = text.to_bytes_with_nul();
    let mut copy = Vec::new();
    memory::reserve(&mut copy, bytes.len(), "a name")?;
    copy.extend(bytes.iter().map(|byte| change(*byte)));
    Ok(CString::from_vec_with_nul(copy).unwrap_or_default())
}

/// Fails if the name is not a token. The error message does not contain the name, because the caller may have passed a
/// secret by mistake.
pub(crate) fn check_token(what: &str, name: &CStr) -> Result<()> {
    let bytes = name.to_bytes();
    if bytes.is_empty() {
        return Err(Error::new(Status::InvalidArgument, format!("a {what} must not be empty")));
    }
    match bytes.iter().position(|b| !is_token_byte(*b)) {
        None => Ok(()),
        Some(at) => Err(Error::new(
            Status::InvalidArgument,
            format!("a {what} must be letters, digits and !#$%&'*+-.^_`|~ only; byte {at} is not"),
        )
        .at(at)),
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_set_is_sorted_and_drops_duplicates_regardless_of_letter_case() {
        let mut set = NameSet::new(Case::Lower, "header name", [c"X-B", c"a", c"x-b"]).unwrap();
        set.add(&NameSet::of_constants(Case::Lower, &[c"X-b", c"A"])).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [c"a", c"x-b"]);
        assert!(set.contains(b"X-b") && set.contains(b"A") && !set.contains(b"x-") && !set.contains(b"x-bb"));
        assert_eq!((set.at(1), set.at(2)), (Some(c"x-b"), None));
    }

    #[test]
    fn method_names_that_are_not_tokens_are_refused() {
        for (name, at) in
            [(c"GET ", Some(3)), (c"G\r\nX", Some(1)), (c"\xff", Some(0)), (c"a:b", Some(1)), (c"", None)]
        {
            let error = NameSet::new(Case::Upper, "method", [name]).unwrap_err();
            assert_eq!((error.status(), error.offset()), (Status::InvalidArgument, at), "{name:?}");
        }
        NameSet::new(Case::Upper, "method", [c"M-SEARCH", c"!#$%&'*+-.^_`|~09az"]).unwrap();
    }
}
