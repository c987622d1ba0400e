//! The suites. A new one is a module and a row of [`ALL`].

use crate::env::Env;
use crate::report::Report;

pub mod c_tests;
pub mod fetch;
pub mod generated;
pub mod symbols;
pub mod unit;

pub struct Suite {
    pub name: &'static str,
    pub what: &'static str,
    pub by_default: bool,
    pub run: fn(&Env, &mut Report),
}

const fn suite(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, by_default: true, run }
}

/// In the order they run.
pub const ALL: &[Suite] = &[
    suite("unit", "the Rust unit tests (cargo test --lib)", unit::run),
    suite("header", "netlib.h and its companions are what the sources generate; its programs run", generated::run),
    suite("symbols", "what the libraries export, SONAME, flags", symbols::run),
    suite("c", "c-tests/test_*.c against the library that users get", c_tests::run),
    suite("valgrind", "the same, with no leak and no memory error", c_tests::valgrind),
    suite("fetch", "examples-c/fetch against a server that misbehaves", fetch::run),
    suite("fetch-leaks", "the same under valgrind", fetch::valgrind),
    suite("demo", "make demo", fetch::demo),
];
