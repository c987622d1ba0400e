//! A bounded map from keys to states. When it is full, it drops one of the least recently used keys: the one whose
//! state matters least.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// The maximum length of a key in bytes. An origin is shorter.
pub(crate) const MAX_KEY_LENGTH: usize = 1024;

/// Fails if a key is longer than [`MAX_KEY_LENGTH`].
pub(crate) fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_LENGTH {
        return Ok(());
    }
    let message = format!("key has {} bytes; it must have at most {MAX_KEY_LENGTH}", key.len());
    Err(Error::new(Status::InvalidArgument, message))
}

/// The place of a key in a [`KeyTable`]. After the key was dropped, its slot finds nothing, even if another key took
/// its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    index: u32,
    generation: u32,
}

struct Entry<T> {
    key: Box<[u8]>,
    state: T,
    generation: u32,
    /// The entry that was used before this one, and the entry that was used after it.
    older: u32,
    newer: u32,
}

/// The index that stands for no entry.
const NONE: u32 = u32::MAX;

/// The number of least recently used keys from which a full table selects the key to drop.
const CANDIDATES: usize = 16;

/// The states of at most `max_keys` keys.
pub(crate) struct KeyTable<T> {
    // The hash function is seeded with random numbers, because servers can choose keys: a redirect names an origin.
    indexes: HashMap<Box<[u8]>, u32>,
    entries: Vec<Entry<T>>,
    oldest: u32,
    newest: u32,
    max_keys: usize,
}

impl<T> KeyTable<T> {
    /// Makes an empty table. `max_keys` is 1 to `u32::MAX - 1`.
    pub(crate) fn new(max_keys: usize) -> KeyTable<T> {
        KeyTable { indexes: HashMap::new(), entries: Vec::new(), oldest: NONE, newest: NONE, max_keys }
    }

    /// Finds a key and makes it the most recently used one. A key that is absent gets the state that `make` returns. If
    /// the table is full, the key replaces one of the [`CANDIDATES`] least recently used keys: the one whose state has
    /// the lowest `rank`, or the least recently used of them if several have it.
    ///
    /// Without ranks, a server could make a client lose a state, such as an open breaker, by redirecting it to many
    /// origins.
    pub(crate) fn find_or_add<R: PartialOrd>(
        &mut self,
        key: &[u8],
        make: impl FnOnce() -> T,
        rank: impl FnMut(&mut T) -> R,
    ) -> Result<Slot> {
        if let Some(&index) = self.indexes.get(key) {
            if self.newest != index {
                self.unlink(index);
                self.link_as_newest(index);
            }
            return Ok(self.slot(index));
        }
        check_key(key)?;
        let (name, copy) = (memory::copy(key, "a key")?, memory::copy(key, "a key")?);
        self.indexes.try_reserve(1).map_err(|_| Error::new(Status::OutOfMemory, "no memory for another key"))?;
        let index = if self.entries.len() < self.max_keys {
            let entry = Entry { key: name.into(), state: make(), generation: 0, older: NONE, newer: NONE };
            memory::push(&mut self.entries, entry, "the states of keys")?;
            (self.entries.len() - 1) as u32
        } else {
            let index = self.lowest_ranked_candidate(rank);
            self.unlink(index);
            let entry = &mut self.entries[index as usize];
            self.indexes.remove(&entry.key);
            entry.key = name.into();
            entry.state = make();
            entry.generation = entry.generation.wrapping_add(1);
            index
        };
        self.indexes.insert(copy.into(), index);
        self.link_as_newest(index);
        Ok(self.slot(index))
    }

    /// Finds a key without making it the most recently used one.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Slot> {
        self.indexes.get(key).map(|&index| self.slot(index))
    }

    /// Returns the state of a key; `None` if the key was dropped.
    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        self.entries
            .get(slot.index as usize)
            .filter(|entry| entry.generation == slot.generation)
            .map(|entry| &entry.state)
    }

    /// Returns the state of a key; `None` if the key was dropped.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        let entry = self.entries.get_mut(slot.index as usize)?;
        (entry.generation == slot.generation).then_some(&mut entry.state)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The table must not be empty.
    fn lowest_ranked_candidate<R: PartialOrd>(&mut self, mut rank: impl FnMut(&mut T) -> R) -> u32 {
        let mut lowest = self.oldest;
        let mut lowest_rank = rank(&mut self.entries[lowest as usize].state);
        let mut index = self.entries[lowest as usize].newer;
        for _ in 1..CANDIDATES {
            let Some(entry) = self.entries.get_mut(index as usize) else { break };
            let entry_rank = rank(&mut entry.state);
            if entry_rank < lowest_rank {
                (lowest, lowest_rank) = (index, entry_rank);
            }
            index = entry.newer;
        }
        lowest
    }

    fn slot(&self, index: u32) -> Slot {
        Slot { index, generation: self.entries[index as usize].generation }
    }

    fn unlink(&mut self, index: u32) {
        let Entry { older, newer, .. } = self.entries[index as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
    }

    fn link_as_newest(&mut self, index: u32) {
        let before = self.newest;
        let entry = &mut self.entries[index as usize];
        (entry.older, entry.newer) = (before, NONE);
        match before {
            NONE => self.oldest = index,
            before => self.entries[before as usize].newer = index,
        }
        self.newest = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(table: &mut KeyTable<String>, key: &str) -> Slot {
        table.find_or_add(key.as_bytes(), || key.to_uppercase(), |_| 0).unwrap()
    }

    #[test]
    fn a_full_table_drops_the_least_recently_used_key() {
        let mut table = KeyTable::new(3);
        let [a, b, c] = ["a", "b", "c"].map(|key| add(&mut table, key));
        assert_eq!(add(&mut table, "a"), a);
        let d = add(&mut table, "d");
        assert_eq!(table.len(), 3);
        let found = [a, b, c, d].map(|slot| table.get(slot).map(String::as_str));
        assert_eq!(found, [Some("A"), None, Some("C"), Some("D")]);
        assert_eq!(table.find(b"b"), None);
        let e = add(&mut table, "e");
        let found = [a, b, c, d, e].map(|slot| table.get(slot).map(String::as_str));
        assert_eq!(found, [Some("A"), None, None, Some("D"), Some("E")]);
    }

    #[test]
    fn a_full_table_drops_the_lowest_ranked_of_the_16_least_recently_used_keys() {
        // Each row: the ranks of 18 keys, from the least recently used one on, and the key that is dropped.
        for (ranks, dropped) in [
            ([5; 18], 0),
            ([5, 3, 4, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 1),
            ([5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 5, 5], 15),
            ([5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4], 0),
        ] {
            let mut table = KeyTable::new(ranks.len());
            let mut add = |key: u8, rank: i32| table.find_or_add(&[key], || rank, |rank| *rank).unwrap();
            let slots: Vec<_> = ranks.iter().enumerate().map(|(key, rank)| add(key as u8, *rank)).collect();
            let new = add(99, 0);
            let gone: Vec<_> = (0..ranks.len()).filter(|key| table.get(slots[*key]).is_none()).collect();
            assert_eq!((gone, table.get(new), table.len()), (vec![dropped], Some(&0), ranks.len()), "{ranks:?}");
        }
    }

    #[test]
    fn a_table_of_one_key_replaces_it() {
        let mut table = KeyTable::new(1);
        let first = add(&mut table, "a");
        let second = add(&mut table, "");
        assert_eq!((table.get(first), table.len()), (None, 1));
        assert_eq!(table.get(second).map(String::as_str), Some(""));
        assert_eq!(add(&mut table, ""), second);
    }

    #[test]
    fn the_table_agrees_with_a_list_ordered_by_last_use() {
        let (mut table, mut model) = (KeyTable::new(5), Vec::new());
        let mut seed = 1u64;
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = ((seed >> 60) % 9).to_string();
            add(&mut table, &key);
            model.retain(|used| *used != key);
            model.push(key);
            if model.len() > 5 {
                model.remove(0);
            }
            let mut states: Vec<_> = table.entries.iter().map(|entry| entry.state.clone()).collect();
            states.sort();
            let mut expected = model.clone();
            expected.sort();
            assert_eq!(states, expected);
        }
    }

    #[test]
    fn a_key_of_1025_bytes_is_refused() {
        let mut table = KeyTable::new(2);
        table.find_or_add(&[b'k'; MAX_KEY_LENGTH], || (), |_| 0).unwrap();
        let error = table.find_or_add(&[b'k'; MAX_KEY_LENGTH + 1], || (), |_| 0).unwrap_err();
        assert_eq!(error.message(), "key has 1025 bytes; it must have at most 1024");
    }
}
