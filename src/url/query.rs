//! The names and values of a query: parsing, changing and serialising.

use std::cell::OnceCell;

use super::percent::{Place, append_decoded, append_encoded, encoded_length, stray_percent};
use super::text::{MAX_LENGTH, reserve};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// The maximum number of pairs in a query. The maximum bounds the memory for a query such as "a&a&a&…".
pub const MAX_PAIRS: usize = 65_536;

/// The encoding of spaces and plus signs in a query.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFormat {
    /// application/x-www-form-urlencoded: "+" stands for a space.
    Form = 0,
    /// RFC 3986: "+" stands for itself.
    Rfc3986 = 1,
}

impl QueryFormat {
    pub fn from_code(code: i32) -> Option<QueryFormat> {
        [QueryFormat::Form, QueryFormat::Rfc3986].into_iter().find(|&format| format as i32 == code)
    }

    fn place(self) -> Place {
        match self {
            QueryFormat::Form => Place::FormPart,
            QueryFormat::Rfc3986 => Place::QueryPart,
        }
    }
}

/// A name and an optional value, not percent-encoded. Each pair has its own allocation, so that text that C code
/// borrowed from a pair stays valid while other pairs are added or removed.
pub struct QueryPair {
    /// The name and a NUL; then the value and a NUL if there is a value.
    text: Vec<u8>,
    name_length: usize,
}

impl QueryPair {
    /// Copies a name and a value. A pair without a value has no "=". A pair needs a name or a value, because the empty
    /// text between two "&" is not a pair.
    pub fn new(name: &[u8], value: Option<&[u8]>) -> Result<QueryPair> {
        if name.is_empty() && value.is_none() {
            return Err(Error::new(Status::InvalidArgument, "the name is empty and the value is absent"));
        }
        let mut pair = QueryPair::with_capacity(name.len().saturating_add(value.map_or(0, <[u8]>::len)))?;
        pair.text.extend_from_slice(name);
        pair.end_name();
        if let Some(value) = value {
            pair.text.extend_from_slice(value);
            pair.text.push(0);
        }
        Ok(pair)
    }

    fn with_capacity(bytes: usize) -> Result<QueryPair> {
        let mut text = Vec::new();
        reserve(&mut text, bytes.saturating_add(2))?;
        Ok(QueryPair { text, name_length: 0 })
    }

    fn end_name(&mut self) {
        self.name_length = self.text.len();
        self.text.push(0);
    }

    /// Decodes a pair. Fails with the offset of a "%" that does not begin a percent-encoding.
    fn decode(place: Place, text: &[u8], at: usize) -> Result<QueryPair> {
        let mut pair = QueryPair::with_capacity(text.len())?;
        let name_end = memchr::memchr(b'=', text).unwrap_or(text.len());
        let (name, value) = (text.get(..name_end).unwrap_or_default(), text.get(name_end + 1..));
        let refused = |offset| stray_percent("query", offset);
        append_decoded(&mut pair.text, place, name).map_err(|offset| refused(at + offset))?;
        pair.end_name();
        if let Some(value) = value {
            append_decoded(&mut pair.text, place, value).map_err(|offset| refused(at + name_end + 1 + offset))?;
            pair.text.push(0);
        }
        Ok(pair)
    }

    fn name_with_nul(&self) -> &[u8] {
        self.text.get(..=self.name_length).unwrap_or_default()
    }

    fn name(&self) -> &[u8] {
        self.text.get(..self.name_length).unwrap_or_default()
    }

    fn value_with_nul(&self) -> Option<&[u8]> {
        self.text.get(self.name_length + 1..).filter(|value| !value.is_empty())
    }

    fn value(&self) -> Option<&[u8]> {
        self.value_with_nul()?.split_last().map(|(_, value)| value)
    }

    /// Returns the size of the pair in a query, before percent-encoding: its name, "=", value and "&". In `text`, a NUL
    /// takes the place of "=" and of "&".
    fn size(&self) -> usize {
        self.text.len()
    }
}

/// An ordered list of pairs. The names need not be unique.
pub struct Query {
    format: QueryFormat,
    pairs: Vec<QueryPair>,
    /// The sum of the sizes of all pairs.
    size: usize,
    /// The text with its NUL, made on first use.
    text: OnceCell<Vec<u8>>,
}

impl Query {
    /// Parses the text of a query, without its "?".
    pub fn parse(text: &[u8], format: QueryFormat) -> Result<Query> {
        let mut query = Query { format, pairs: Vec::new(), size: 0, text: OnceCell::new() };
        if text.len() > MAX_LENGTH {
            return Err(too_large("bytes", MAX_LENGTH));
        }
        let mut at = 0;
        for piece in text.split(|&byte| byte == b'&') {
            if !piece.is_empty() {
                query.append(QueryPair::decode(format.place(), piece, at)?)?;
            }
            at += piece.len() + 1;
        }
        Ok(query)
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the name of a pair, followed by a NUL.
    pub fn name_with_nul(&self, index: usize) -> Option<&[u8]> {
        self.pairs.get(index).map(QueryPair::name_with_nul)
    }

    /// Returns the value of a pair, followed by a NUL; `None` if the pair has no "=".
    pub fn value_with_nul(&self, index: usize) -> Option<&[u8]> {
        self.pairs.get(index)?.value_with_nul()
    }

    /// Returns the index of the first pair with a name, at or after `from`; the number of pairs if there is none.
    pub fn find(&self, name: &[u8], from: usize) -> usize {
        let rest = self.pairs.get(from..).unwrap_or_default();
        rest.iter().position(|pair| pair.name() == name).map_or(self.len(), |index| from + index)
    }

    pub fn append(&mut self, pair: QueryPair) -> Result<()> {
        if self.len() >= MAX_PAIRS {
            return Err(too_large("pairs", MAX_PAIRS));
        }
        let size = self.checked_size(&pair, 0)?;
        memory::push(&mut self.pairs, pair, "a query")?;
        self.size = size;
        self.text.take();
        Ok(())
    }

    /// Replaces the first pair of the same name with `pair`, and removes all later pairs of this name. Appends `pair`
    /// if no pair has this name.
    pub fn set(&mut self, pair: QueryPair) -> Result<()> {
        let first = self.find(pair.name(), 0);
        let Some(replaced) = self.pairs.get_mut(first) else { return self.append(pair) };
        let freed = replaced.size();
        self.checked_size(&pair, freed)?;
        let mut index = 0;
        self.pairs.retain(|other| {
            index += 1;
            index - 1 <= first || other.name() != pair.name()
        });
        if let Some(replaced) = self.pairs.get_mut(first) {
            *replaced = pair;
        }
        self.size = self.pairs.iter().map(QueryPair::size).sum();
        self.text.take();
        Ok(())
    }

    /// Removes the pair at an index, and all other pairs with its name. Returns the number of removed pairs.
    pub fn remove_all_like(&mut self, index: usize) -> usize {
        if index >= self.len() {
            return 0;
        }
        let before = self.len();
        let removed = self.pairs.remove(index);
        self.pairs.retain(|pair| pair.name() != removed.name());
        self.size = self.pairs.iter().map(QueryPair::size).sum();
        self.text.take();
        before - self.len()
    }

    /// Returns the size of the query with a further pair, and without `freed` bytes.
    fn checked_size(&self, pair: &QueryPair, freed: usize) -> Result<usize> {
        let size = (self.size - freed).saturating_add(pair.size());
        // The last pair has no "&".
        match size > MAX_LENGTH + 1 {
            true => Err(too_large("bytes", MAX_LENGTH)),
            false => Ok(size),
        }
    }

    /// Returns the text of the query, followed by a NUL.
    pub fn text_with_nul(&self) -> Result<&[u8]> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let made = self.make_text()?;
        Ok(self.text.get_or_init(|| made))
    }

    fn make_text(&self) -> Result<Vec<u8>> {
        let place = self.format.place();
        let length = |text: &[u8]| encoded_length(place, text) + 1;
        let pairs = self.pairs.iter();
        let room = pairs.map(|pair| length(pair.name()) + pair.value().map_or(0, length)).sum::<usize>();
        let mut text = Vec::new();
        reserve(&mut text, room + 1)?;
        for (i, pair) in self.pairs.iter().enumerate() {
            if i > 0 {
                text.push(b'&');
            }
            append_encoded(&mut text, place, pair.name());
            if let Some(value) = pair.value() {
                text.push(b'=');
                append_encoded(&mut text, place, value);
            }
        }
        text.push(0);
        Ok(text)
    }
}

#[cold]
fn too_large(unit: &str, most: usize) -> Error {
    Error::new(Status::InvalidUrl, format!("the query has more than {most} {unit}"))
}

#[cfg(test)]
mod tests;
