//! Builds the release library. The build is a suite of its own, so that its time does not count towards another suite.

use crate::env::Env;
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let library = env.release_library();
    let version = std::env!("CARGO_PKG_VERSION");
    for file in [&format!("libnetlib.so.{version}"), "libnetlib.so", "libnetlib.a"] {
        report.check(library.join(file).is_file(), format!("scripts/build-lib makes {file}"));
    }
}
