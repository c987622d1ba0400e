//! A table of leases: permissions for requests whose outcome was not reported yet. Each lease has a number, and ages
//! out if its outcome is never reported.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::memory;

struct Entry<L> {
    /// `None` if the place is free.
    lease: Option<L>,
    /// Increases with each lease in this place. It is part of the lease's number, so that the number of a lease that
    /// has ended finds nothing.
    generation: u32,
    /// The time at which the lease was given, in seconds.
    given: f64,
    older: u32,
    newer: u32,
}

/// The index that stands for no entry.
const NONE: u32 = u32::MAX;

/// The maximum number of leases that one call ends because of their age, so that no call holds its lock for long after
/// the time has jumped. A call adds at most one lease, so the old leases become fewer with each call.
pub(crate) const MAX_ENDED_AT_ONCE: usize = 64;

/// The first generation of the next table. Tables begin with different generations, so that the number of a lease in
/// one table, passed to another table by mistake, finds nothing there.
static NEXT_GENERATION: AtomicU32 = AtomicU32::new(0);
/// The distance between the first generations of two tables.
const GENERATION_STEP: u32 = 0x9e37_79b9;

/// At most `max` leases, in the order in which they were given.
pub(crate) struct LeaseTable<L> {
    entries: Vec<Entry<L>>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    max: usize,
    first_generation: u32,
}

impl<L> LeaseTable<L> {
    /// Makes an empty table. `max` is 1 to `u32::MAX - 1`.
    pub(crate) fn new(max: usize) -> LeaseTable<L> {
        let first_generation = NEXT_GENERATION.fetch_add(GENERATION_STEP, Ordering::Relaxed);
        LeaseTable { entries: Vec::new(), free: Vec::new(), oldest: NONE, newest: NONE, max, first_generation }
    }

    /// Adds a lease and returns its number, which is never 0. If the table is full, the caller first ends the oldest
    /// lease with [`LeaseTable::remove_oldest`].
    pub(crate) fn add(&mut self, lease: L, now: f64) -> Result<u64> {
        debug_assert!(!self.is_full());
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                memory::grow(&mut self.free, 1, "leases")?;
                let entry =
                    Entry { lease: None, generation: self.first_generation, given: 0.0, older: NONE, newer: NONE };
                memory::push(&mut self.entries, entry, "leases")?;
                (self.entries.len() - 1) as u32
            }
        };
        let before = self.newest;
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        (entry.lease, entry.given, entry.older, entry.newer) = (Some(lease), now, before, NONE);
        let generation = entry.generation;
        match before {
            NONE => self.oldest = index,
            before => self.entries[before as usize].newer = index,
        }
        self.newest = index;
        Ok((u64::from(generation) << 32) | (u64::from(index) + 1))
    }

    /// Ends the lease with this number and returns it, unless the lease has already ended or was given before `time`.
    /// [`LeaseTable::remove_given_before`] ends such an old lease later.
    pub(crate) fn remove(&mut self, number: u64, time: f64) -> Option<L> {
        let index = (number as u32).checked_sub(1)?;
        let entry = self.entries.get_mut(index as usize)?;
        if entry.generation != (number >> 32) as u32 || entry.given < time {
            return None;
        }
        let lease = entry.lease.take()?;
        let (older, newer) = (entry.older, entry.newer);
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        self.free.push(index);
        Some(lease)
    }

    /// Ends the oldest lease and returns it; `None` if there is no lease.
    pub(crate) fn remove_oldest(&mut self) -> Option<L> {
        let entry = self.entries.get(self.oldest as usize)?;
        self.remove((u64::from(entry.generation) << 32) | (u64::from(self.oldest) + 1), f64::NEG_INFINITY)
    }

    /// Ends the oldest lease and returns it, if it was given before `time`.
    pub(crate) fn remove_given_before(&mut self, time: f64) -> Option<L> {
        let is_older = self.entries.get(self.oldest as usize).is_some_and(|entry| entry.given < time);
        if is_older { self.remove_oldest() } else { None }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.max
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_once() {
        let mut table = LeaseTable::new(8);
        let [a, b, c] = ['a', 'b', 'c'].map(|lease| table.add(lease, 0.0).unwrap());
        assert_eq!((table.remove(b, 0.0), table.remove(b, 0.0), table.len()), (Some('b'), None, 2));
        // The new lease takes the place of `b`, and the number of `b` does not find it.
        let d = table.add('d', 0.0).unwrap();
        assert_eq!((table.remove(b, 0.0), table.remove(d, 0.0)), (None, Some('d')));
        assert_eq!((table.remove(c, 0.0), table.remove(a, 0.0), table.len()), (Some('c'), Some('a'), 0));
        for number in [0, 1, u64::MAX, a, c] {
            assert_eq!(table.remove(number, 0.0), None, "{number}");
        }
    }

    #[test]
    fn leases_age_out_in_the_order_in_which_they_were_given() {
        let mut table = LeaseTable::new(8);
        let numbers = [1.0, 2.0, 3.0, 4.0].map(|time| table.add(time, time).unwrap());
        assert_eq!(table.remove(numbers[1], 0.0), Some(2.0));
        assert_eq!(table.remove_given_before(1.0), None);
        let aged: Vec<_> = std::iter::from_fn(|| table.remove_given_before(4.0)).collect();
        assert_eq!(aged, [1.0, 3.0]);
        assert_eq!((table.remove_oldest(), table.remove_oldest()), (Some(4.0), None));
    }

    #[test]
    fn the_number_of_an_old_lease_finds_nothing_although_the_lease_has_not_ended_yet() {
        let mut table = LeaseTable::new(8);
        let numbers = [1.0, 2.0].map(|time| table.add(time, time).unwrap());
        assert_eq!(numbers.map(|number| table.remove(number, 1.5)), [None, Some(2.0)]);
        assert_eq!(
            (table.len(), table.remove_given_before(1.5), table.remove(numbers[0], 0.0)),
            (1, Some(1.0), None)
        );
    }

    #[test]
    fn a_full_table_takes_a_lease_after_its_oldest_one_has_ended() {
        let mut table = LeaseTable::new(2);
        table.add(1, 0.0).unwrap();
        table.add(2, 0.0).unwrap();
        assert!(table.is_full());
        assert_eq!(table.remove_oldest(), Some(1));
        assert!(!table.is_full());
        table.add(3, 0.0).unwrap();
        assert_eq!((table.remove_oldest(), table.remove_oldest(), table.remove_oldest()), (Some(2), Some(3), None));
    }

    #[test]
    fn the_number_of_a_lease_finds_nothing_in_another_table() {
        let [mut first, mut second] = [LeaseTable::new(8), LeaseTable::new(8)];
        let number = first.add('a', 0.0).unwrap();
        second.add('b', 0.0).unwrap();
        assert_eq!((second.remove(number, 0.0), second.len(), first.remove(number, 0.0)), (None, 1, Some('a')));
    }
}
