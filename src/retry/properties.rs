//! What holds for every policy and every chain of requests, tried with many made by a seeded generator.

mod increment;
mod one_place;
mod origins;

use std::sync::Arc;

use crate::headers::{Headers, HeadersBuilder};
use crate::response::Response;

/// SplitMix64: the same numbers for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// The same letters in random cases.
    fn cased(&mut self, text: &str) -> String {
        let case = |c: char| if self.one_in(2) { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        text.chars().map(case).collect()
    }
}

fn headers_of<S: AsRef<str>>(names: &[S]) -> Headers {
    let mut headers = HeadersBuilder::new();
    for name in names {
        headers.add(name.as_ref().as_bytes(), b"secret").unwrap();
    }
    headers.build()
}

fn names_of(headers: &Headers) -> Vec<String> {
    headers.iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
}

fn answer(status: u16, location: Option<&str>) -> Response {
    let mut headers = HeadersBuilder::new();
    if let Some(location) = location {
        headers.add(b"Location", location.as_bytes()).unwrap();
    }
    Response::new("GET", status, Arc::new(headers.build())).unwrap()
}
