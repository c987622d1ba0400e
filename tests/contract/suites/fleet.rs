//! Runs the programs of c-tests/fleet, in which processes share a rate through a file or a Redis server, while
//! processes and the server are killed. The programs run for a few seconds with the real clock. A further program is a
//! server that sends wrong replies. Without redis-server or hiredis, the programs for Redis are reported as skipped.

use std::path::Path;

use crate::env::{Env, has, stem};
use crate::report::Report;
use crate::suites::c_tests::take_counts;

/// The time limit of a program in seconds. The programs end after about 10 seconds.
const SECONDS: u64 = 90;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("fleet");
    run_program(env, Path::new("c-tests/fleet/fleet_file.c"), &[], &scratch, report);
    if !has_hiredis(env) {
        return report.skip("redis_replies, fleet_redis: hiredis, the C client of Redis, is not installed");
    }
    let adapter = ["-Iexamples-c", "examples-c/store_redis/redis_store.c", "-lhiredis", "-lm"];
    run_program(env, Path::new("c-tests/fleet/redis_replies.c"), &adapter, &scratch, report);
    if !has("redis-server") {
        return report.skip("fleet_redis: redis-server is not installed");
    }
    run_program(env, Path::new("c-tests/fleet/fleet_redis.c"), &adapter, &scratch, report);
}

/// Returns whether the compiler finds the header of hiredis.
pub fn has_hiredis(env: &Env) -> bool {
    env.cc().args(["-fsyntax-only", "-include", "hiredis/hiredis.h", "-xc", "/dev/null"]).run(60).ok
}

/// Compiles and runs a test program, and reports its checks. The compiler gets `arguments` in addition.
pub fn run_program(env: &Env, source: &Path, arguments: &[&str], scratch: &Path, report: &mut Report) {
    let (library, program) = (env.library(), scratch.join(stem(source)));
    let mut cc = env.strict_cc();
    cc.arg(source).arg("-o").arg(&program).args(arguments).arg("-pthread").link_to(library);
    if let Err(text) = cc.run(300).or_text() {
        return report.fail(format!("{} does not compile\n{text}", source.display()));
    }
    let ran = env.command(&program).load_from(library).run(SECONDS);
    take_counts(stem(source), &ran, report);
}
