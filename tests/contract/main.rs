//! The contract tests: what the library promises to C, checked on the library that users get.
//!
//!     cargo test --test contract                  every suite that is not long
//!     cargo test --test contract -- all           every suite
//!     cargo test --test contract -- rest          the long suites only
//!     cargo test --test contract -- nulls c       the suites named
//!     cargo test --test contract -- list          their names
//!     cargo test --test contract -- bless         writes what is generated: netlib.h, netlib.exports, pages of docs/reference
//!
//! A suite is a file of `suites`, prints one line with its counts, and each failure with its reason. The last line is
//! the total. See docs/contributing/testing.md.

mod data;
mod env;
mod header;
mod model;
mod pages;
mod report;
mod suites;

use std::process::ExitCode;

fn main() -> ExitCode {
    let env = env::Env::new();
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    match args.first().map(String::as_str) {
        Some("bless") => return suites::generated::bless(&env),
        Some("list") => {
            suites::ALL.iter().for_each(|suite| println!("{:10} {}", suite.name, suite.what));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let all = args.iter().any(|arg| arg == "all");
    let rest = args.iter().any(|arg| arg == "rest");
    let is_known = |arg: &str| ["all", "rest"].contains(&arg) || suites::ALL.iter().any(|suite| suite.name == arg);
    if let Some(unknown) = args.iter().find(|arg| !is_known(arg)) {
        eprintln!("there is no suite \"{unknown}\"; `make suites` lists them");
        return ExitCode::FAILURE;
    }
    let (mut passed, mut failed) = (0, 0);
    for suite in suites::ALL {
        let named = args.iter().any(|arg| arg == suite.name);
        if all || named || rest && !suite.by_default || args.is_empty() && suite.by_default {
            let report = report::run(suite.name, |report| (suite.run)(&env, report));
            passed += report.passed;
            failed += report.failed();
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
