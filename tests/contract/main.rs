//! The contract tests, which check through the C ABI that the library keeps its documented behaviour.
//!
//!     cargo test --test contract                  every suite that is not long, on the development build
//!     cargo test --test contract -- all           every suite, on the release build that users get
//!     cargo test --test contract -- nulls c       the named suites, on the development build
//!     cargo test --test contract -- all nulls c   the named suites, on the release build
//!     cargo test --test contract -- list          lists the suites
//!     cargo test --test contract -- bless         writes what is generated: files of include, pages of docs/reference,
//!                                                 pictures
//!     cargo test --test contract -- record-abi    records the ABI of netlib.h in abi/
//!     cargo test --test contract -- record-demo   records the output of the demo in docs/pictures/
//!     cargo test --test contract -- record-storm  prints the table of examples-c/storm, and records its output
//!
//! Each suite is a file in `suites`. A suite prints each failure with its reason, then one line with the numbers of
//! passed and failed checks. The last line of the output has the totals. docs/contributing/testing.md describes the
//! suites.

mod cdef;
mod cpp;
mod data;
mod description;
mod env;
mod header;
mod json;
mod manual;
mod model;
mod pages;
mod pictures;
mod report;
mod suites;

use std::process::ExitCode;

use env::{Build, Env};

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let all = args.first().is_some_and(|arg| arg == "all");
    if all {
        args.remove(0);
    }
    let env = Env::new(if all { Build::Release } else { Build::Development });
    match args.first().map(String::as_str) {
        Some("bless") => return suites::generated::bless(&env),
        Some("record-abi") => return suites::abi::record(&env),
        Some("record-demo") => return pictures::record_demo(&env),
        Some("record-storm") => return pictures::record_storm(&env),
        Some("list") => {
            for suite in suites::ALL {
                let kind = match suite {
                    suite if suite.only_by_name => "named",
                    suite if suite.is_long => "long",
                    _ => "",
                };
                println!("{:16} {kind:5} {}", suite.name, suite.what);
            }
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let is_known = |arg: &str| suites::ALL.iter().any(|suite| suite.name == arg);
    if let Some(unknown) = args.iter().find(|arg| !is_known(arg)) {
        eprintln!("there is no suite \"{unknown}\"; `make suites` lists them");
        return ExitCode::FAILURE;
    }
    let (mut passed, mut failed) = (0, 0);
    for suite in suites::ALL {
        let is_named = args.iter().any(|arg| arg == suite.name);
        if is_named || args.is_empty() && !suite.only_by_name && (all || !suite.is_long) {
            let report = report::run(suite.name, |report| (suite.run)(&env, report));
            passed += report.passed;
            failed += report.failed();
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
