//! The suites. A new one is a module and a row of [`ALL`].

use crate::env::Env;
use crate::report::Report;

pub mod advisories;
pub mod asan;
pub mod c_tests;
pub mod chains;
pub mod corpus;
pub mod docs;
pub mod epoll;
pub mod examples;
pub mod fetch;
pub mod generated;
pub mod guards;
pub mod imports;
pub mod incidents;
pub mod install;
pub mod instrumented;
pub mod interop;
pub mod keys;
pub mod library;
pub mod links;
pub mod matrix;
pub mod named_tests;
pub mod negative;
pub mod netns;
pub mod nulls;
pub mod panics;
pub mod spec_map;
pub mod statuses;
pub mod symbols;
pub mod threads;
pub mod tsan;
pub mod unit;
pub mod unsafe_code;
pub mod vectors;

pub struct Suite {
    pub name: &'static str,
    pub what: &'static str,
    pub by_default: bool,
    pub run: fn(&Env, &mut Report),
}

const fn suite(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, by_default: true, run }
}

/// Not a part of `make test`: of `make test-all`, or asked for by name.
const fn long(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, by_default: false, run }
}

/// In the order they run.
pub const ALL: &[Suite] = &[
    suite("library", "the release build, as users get it", library::run),
    suite("unit", "the Rust unit tests (cargo test --lib)", unit::run),
    suite("header", "netlib.h and its companions are what the sources generate; its programs run", generated::run),
    suite("docs", "every public item is documented in the grammar", docs::run),
    suite("matrix", "netlib.h under each compiler and language version", matrix::run),
    suite("symbols", "what the libraries export, SONAME, flags", symbols::run),
    suite("nulls", "every function with every pointer NULL, one at a time", nulls::run),
    suite("statuses", "every status from C equals the table", statuses::run),
    suite("panic", "a panic inside the library is a status", panics::run),
    suite("spec-map", "every row of the specification has C names and tests that run", spec_map::run),
    suite("incidents", "every known incident has tests that run", incidents::run),
    suite("links", "every link and every path of a document leads to a file", links::run),
    suite(
        "advisories",
        "no locked version has a known advisory, another source or a licence that is refused",
        advisories::run,
    ),
    suite("guards", "every exported function runs in one panic guard", guards::run),
    suite("unsafe", "where the sources may be unsafe, or speak of C", unsafe_code::run),
    suite("imports", "no import cycle in src/ has more than three files", imports::run),
    suite("threads", "handles shared between threads; dlopen and dlclose in threads", threads::run),
    suite("install", "make install, moved; programs built from there only", install::run),
    suite("examples", "examples-c compile, and end cleanly", examples::run),
    suite("c", "c-tests/**/test_*.c against the library that users get", c_tests::run),
    suite("valgrind", "the same, with no leak and no memory error", c_tests::valgrind),
    suite("corpus", "the fuzz targets with the inputs of fuzz/seeds", corpus::run),
    suite("keys", "private keys as the openssl command writes them, every combination", keys::run),
    suite("chains", "chains of certificates, beside the verdict of the openssl command", chains::run),
    suite("vectors", "what urllib3 answered, through the C ABI", vectors::run),
    suite("vectors-leaks", "some of them under valgrind", vectors::valgrind),
    suite("negative", "each of these suites fails on what it is there to find", negative::run),
    suite("fetch", "examples-c/fetch against a server that misbehaves", fetch::run),
    suite("fetch-leaks", "each third of these cases under valgrind", fetch::valgrind),
    suite("epoll", "examples-c/epoll against the same server, fifty URLs at once", epoll::run),
    suite("demo", "make demo", fetch::demo),
    suite("interop", "TLS with openssl and GnuTLS, both ways: each suite and key, refusals", interop::run),
    suite("interop-leaks", "some of it under valgrind", interop::valgrind),
    long("interop-all", "TLS with openssl and GnuTLS: the other combinations", interop::run_rest),
    long("ech", "Encrypted Client Hello with a server of Go's", interop::ech::run),
    long("epoll-leaks", "examples-c/epoll against its server under valgrind", epoll::valgrind),
    long("fetch-leaks-rest", "the other cases of fetch under valgrind", fetch::valgrind_rest),
    long("netns", "connecting in network namespaces whose hosts are slow, refuse or are silent", netns::run),
    long("asan", "the C tests with both halves instrumented", asan::run),
    long("tsan", "programs with threads, with both halves instrumented by ThreadSanitizer", tsan::run),
];
