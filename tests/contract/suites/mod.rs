//! Lists the suites of the contract tests. A new suite needs a module in this folder and a row of [`ALL`].

use crate::env::Env;
use crate::report::Report;

pub mod abi;
pub mod advisories;
pub mod asan;
pub mod bindings;
pub mod c_tests;
pub mod chains;
pub mod corpus;
pub mod cpp;
pub mod docs;
pub mod doxygen;
pub mod epoll;
pub mod examples;
pub mod fetch;
pub mod fleet;
pub mod generated;
pub mod guards;
pub mod imports;
pub mod incidents;
pub mod install;
pub mod instrumented;
pub mod interop;
pub mod keys;
pub mod language_pages;
pub mod languages;
pub mod library;
pub mod links;
pub mod man;
pub mod matrix;
pub mod named_tests;
pub mod negative;
pub mod netns;
pub mod nulls;
pub mod packaging;
pub mod panics;
pub mod platforms;
pub mod printed;
pub mod python;
pub mod scripts;
pub mod site;
pub mod spec_map;
pub mod statuses;
pub mod storm;
pub mod symbols;
pub mod threads;
pub mod tsan;
pub mod unit;
pub mod unsafe_code;
pub mod vectors;

pub struct Suite {
    pub name: &'static str,
    pub what: &'static str,
    /// True for suites that `make test` leaves out. `make test-all` runs them, except those with `only_by_name`.
    pub is_long: bool,
    /// True for suites that run only if they are named; `make package-check` names them.
    pub only_by_name: bool,
    pub run: fn(&Env, &mut Report),
}

const fn suite(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, is_long: false, only_by_name: false, run }
}

const fn long(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, is_long: true, only_by_name: false, run }
}

const fn by_name(name: &'static str, what: &'static str, run: fn(&Env, &mut Report)) -> Suite {
    Suite { name, what, is_long: true, only_by_name: true, run }
}

/// The suites in the order in which they run.
pub const ALL: &[Suite] = &[
    suite("unit", "the Rust unit tests (cargo test --lib)", unit::run),
    long("library", "the release build succeeds", library::run),
    suite("header", "netlib.h and the other generated files are up to date", generated::run),
    suite("printed", "the programs that documents print: exit codes and output", printed::run),
    long("printed-leaks", "the programs that documents print, under valgrind", printed::valgrind),
    suite("docs", "every public item is documented in the required grammar", docs::run),
    suite("matrix", "netlib.h compiles with each compiler and language version", matrix::run),
    suite(
        "bindings",
        "netlib.api.json is complete; netlib.cdef.h declares what netlib.h does, and loads in cffi, LuaJIT and PHP",
        bindings::run,
    ),
    long(
        "language-pages",
        "the programs of docs/howto/languages run in the languages that are installed",
        language_pages::run,
    ),
    suite("man", "the man pages: parts, references, syntax according to mandoc", man::run),
    suite("doxygen", "Doxygen documents every function of netlib.h, without a warning", doxygen::run),
    suite("abi", "the ABI of netlib.h is the one that the files in abi/ record", abi::run),
    suite(
        "packaging",
        "the recipes in packaging have the version, the SONAME and the file lists of netlib",
        packaging::run,
    ),
    long("symbols", "exported symbols, SONAME and hardening flags of the release build", symbols::run),
    suite("nulls", "every function with each pointer argument NULL in turn", nulls::run),
    suite("statuses", "name, text and class of every status, read from C", statuses::run),
    long("panic", "a panic inside the library becomes NETLIB_INTERNAL", panics::run),
    suite("spec-map", "every row of the specification has C names and tests that run", spec_map::run),
    suite("incidents", "every known incident has tests that run", incidents::run),
    suite("links", "every link and every path that a file names leads to a file", links::run),
    suite("scripts", "each script prints its usage, and refuses unknown arguments", scripts::run),
    suite("platforms", "docs/reference/platforms.md lists the targets of scripts/cross", platforms::run),
    suite(
        "advisories",
        "no dependency with a known advisory, from an unknown source or with a refused licence",
        advisories::run,
    ),
    suite("guards", "every exported function runs inside the panic guard", guards::run),
    suite("unsafe", "unsafe code and C types only in the listed files", unsafe_code::run),
    suite("imports", "no import cycle in src/ has more than three files", imports::run),
    suite("threads", "handles shared between threads; dlopen and dlclose in threads", threads::run),
    suite("python", "SIGINT ends a wait in a Python program that uses ctypes", python::run),
    long("install", "make install; programs built from the installed tree after it was moved", install::run),
    suite("examples", "the programs of examples-c compile and run", examples::run),
    long("examples-leaks", "the programs of examples-c under valgrind", examples::valgrind),
    long("languages", "the bindings: packages, the scenario in each language, linters", languages::run),
    by_name("site", "make site: links, pages in a browser, the search", site::run),
    suite("cpp", "netlib.hpp: every function, the tests of cpp-tests and the example", cpp::run),
    long(
        "cpp-variants",
        "netlib.hpp: no overhead; the tests under valgrind, with AddressSanitizer, for C++20, with clang",
        cpp::run_variants,
    ),
    by_name("cpp-all", "the tests of cpp-tests with each compiler, C++ version and sanitizer", cpp::run_all),
    suite("c", "the C tests: c-tests/**/test_*.c", c_tests::run),
    long("valgrind", "the C tests under valgrind: leaks and memory errors", c_tests::valgrind),
    suite("corpus", "the fuzz targets with the inputs of fuzz/seeds", corpus::run),
    long("keys", "private keys and PKCS#12 files written by the openssl command", keys::run),
    suite(
        "chains",
        "certificate chains, compared with the openssl command and with recorded results of Python's ssl",
        chains::run,
    ),
    suite("vectors", "answers recorded from urllib3, compared through the C ABI", vectors::run),
    long("vectors-leaks", "a sample of the vectors under valgrind", vectors::valgrind),
    long("negative", "each suite reports a deliberate defect", negative::run),
    suite("fetch", "examples-c/fetch against a misbehaving server", fetch::run),
    long("fetch-leaks", "examples-c/fetch under valgrind", fetch::valgrind),
    suite("epoll", "examples-c/epoll against the same server, fifty URLs at once", epoll::run),
    long("epoll-leaks", "examples-c/epoll under valgrind", epoll::valgrind),
    long(
        "storm",
        "examples-c/storm: the table and the pictures in docs/pictures, and what they must show",
        storm::run,
    ),
    long("demo", "make demo succeeds and prints the expected lines", fetch::demo),
    suite(
        "interop",
        "TLS with openssl and GnuTLS in both directions: each cipher suite and key, refusals",
        interop::run,
    ),
    long("interop-leaks", "a sample of the interop sessions under valgrind", interop::valgrind),
    long("interop-all", "TLS with openssl and GnuTLS: the remaining combinations", interop::run_rest),
    long("ech", "Encrypted Client Hello with a Go server", interop::ech::run),
    long("fleet", "processes that share a rate through a file and through Redis, with failures", fleet::run),
    long("netns", "connecting in network namespaces with slow, refusing and silent hosts", netns::run),
    long("asan", "the C tests with AddressSanitizer in the library and the tests", asan::run),
    long("tsan", "threaded programs with ThreadSanitizer in the library and the programs", tsan::run),
];
