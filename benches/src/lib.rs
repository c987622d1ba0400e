//! Benchmarks that compare the cost of netlib's functions with other libraries. `make bench` runs the benchmarks;
//! docs/contributing/benchmarks.md explains the output.
//!
//! A *group* is a list of operations to be compared. Two programs measure the same groups: `time` measures times, and
//! `count` counts allocations and system calls. Times and counts are measured by separate programs, so that counting
//! does not slow down the timed code.

pub mod rng;
pub mod library;
pub mod overload;
// rustfmt would put each word of the lists in `words` on its own line.
#[rustfmt::skip]
mod words;
pub mod corpus;
pub mod rivals;
pub mod compare;
pub mod urls;
pub mod resolve;
pub mod policy;
pub mod heads;
pub mod sockets;
pub mod tls;
pub mod client;
pub mod servers;
pub mod program;
pub mod bindings;
pub mod programs;
pub mod python;
pub mod processors;
pub mod timing;
pub mod growth;
pub mod report;
pub mod chart;
#[path = "../../tests/contract/pictures/svg.rs"]
pub mod svg;
pub mod size;
mod before;

use std::cell::RefCell;

pub use before::{before, compare_with};

/// The path of a build of netlib that uses no vector instructions.
pub const PORTABLE: &str = "target/netlib-portable/libnetlib.so";

/// The path of the build of netlib that is optimised for size.
pub const SMALL: &str = "target/small/netlib/libnetlib.so";

thread_local! {
    static LIBRARY: RefCell<String> = RefCell::new("target/netlib/libnetlib.so".into());
}

/// Returns the path of the netlib library to measure: the one that users get, except inside [`with_library`].
pub fn netlib() -> String {
    LIBRARY.with_borrow(String::clone)
}

/// Calls `make` while [`netlib`] returns `path`.
pub fn with_library<T>(path: &str, make: impl FnOnce() -> T) -> T {
    let users = LIBRARY.replace(path.into());
    let made = make();
    LIBRARY.set(users);
    made
}

/// An operation to measure. `pass` repeats the operation `times` times and is measured; `prepare` runs before each pass
/// and is not measured.
pub struct Operation {
    pub name: String,
    pub times: usize,
    /// The number of passes per round.
    pub passes: usize,
    pub prepare: Box<dyn FnMut()>,
    pub pass: Box<dyn FnMut()>,
}

impl Operation {
    pub fn new(name: impl Into<String>, times: usize, pass: impl FnMut() + 'static) -> Operation {
        Operation { name: name.into(), times, passes: 1, prepare: Box::new(|| ()), pass: Box::new(pass) }
    }

    pub fn repeated(self, passes: usize) -> Operation {
        Operation { passes, ..self }
    }

    pub fn prepared(self, prepare: impl FnMut() + 'static) -> Operation {
        Operation { prepare: Box::new(prepare), ..self }
    }
}

/// The numbers of allocations and system calls per operation.
#[derive(Clone, Copy)]
pub struct Counts {
    pub allocations: f64,
    /// The number of system calls that read from sockets; `writes` counts those that write, and `waits` the calls of
    /// poll(2).
    pub reads: f64,
    pub writes: f64,
    pub waits: f64,
}

/// A group of operations that are compared. The column of ratios shows each time divided by the time of the first
/// available operation in `references`.
pub struct Group {
    pub name: String,
    pub references: &'static [&'static str],
    pub operations: Vec<Operation>,
}

/// The groups of one table.
pub struct Section {
    /// The name that selects the section on the command line.
    pub name: &'static str,
    pub title: &'static str,
    pub groups: Vec<Group>,
}

/// Returns the sections that the programs `time` and `count` measure, in the order in which they are printed.
pub fn sections(wanted: impl Fn(&str) -> bool) -> Result<Vec<Section>, String> {
    let mut sections = Vec::new();
    if wanted("url") {
        sections.extend(urls::sections()?);
    }
    if wanted("resolve") {
        sections.push(resolve::section()?);
    }
    if wanted("policy") {
        sections.push(policy::section()?);
    }
    if wanted("heads") {
        sections.push(heads::section()?);
    }
    if wanted("sockets") {
        sections.push(sockets::costs::section()?);
    }
    if wanted("tls") {
        match tls::section() {
            Ok(section) => sections.push(section),
            Err(reason) => eprintln!("tls: skipped: {reason}"),
        }
    }
    Ok(sections)
}
