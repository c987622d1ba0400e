//! What netlib costs beside others. `make bench` runs it; docs/benchmarks.md says how to read what it prints.

pub mod rng;
pub mod corpus;
pub mod library;
pub mod rivals;
pub mod compare;
pub mod timing;
pub mod report;
pub mod urls;
