//! Lists the files that may use `unsafe`, C types, or locks of the standard library, which may stay locked in a forked
//! child. Parsers and policies are safe Rust (incident R29).

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::report::Report;

/// The files that may contain unsafe code. `src/ffi.rs` allows unsafe code for all files in `src/ffi`.
const ALLOWING: &[&str] = &[
    "src/ffi.rs",
    "src/overload/store/mapping.rs",
    "src/socket/sys.rs",
    "src/socket/sys/cancellation.rs",
    "src/socket/sys/file.rs",
    "src/socket/sys/poll_group.rs",
    "src/socket/sys/process.rs",
    "src/url/scan.rs",
];

/// The files that may use locks of the standard library, with the reason why no forked child waits for one. A file that
/// is not listed uses `fork::Mutex` or `once_cell::race::OnceBox` instead of these locks.
const LOCKING: &[(&str, &str)] = &[
    ("src/fork.rs", "wraps them: held under a `Delay`, for which fork(2) waits"),
    ("src/tls/context.rs", "cells that only `fork::get_or_init` fills"),
    ("src/tls/context/derive.rs", "as src/tls/context.rs"),
    ("src/stream/state.rs", "`check_owner` refuses a child before the lock"),
    ("src/stream/call.rs", "the guard of the lock in src/stream/state.rs"),
];

pub fn run(env: &Env, report: &mut Report) {
    unsafe_code_is_only_in_the_listed_files(env, report);
}

fn unsafe_code_is_only_in_the_listed_files(env: &Env, report: &mut Report) {
    let root = env.read("src/lib.rs");
    report.check(root.contains("#![deny(unsafe_code)]"), "src/lib.rs denies unsafe code");
    for file in rust_files(&env.root.join("src")) {
        let name = file.strip_prefix(&env.root).unwrap_or(&file).to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap_or_default();
        check(&name, &text, report);
        check_locks(&name, &text, report);
    }
    for (file, _) in LOCKING {
        let lines = lines_with_locks(&env.read(file));
        report.check(!lines.is_empty(), format!("{file} uses a lock of the standard library"));
    }
}

pub fn check_locks(file: &str, text: &str, report: &mut Report) {
    let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
    if !is_test && LOCKING.iter().all(|(listed, _)| *listed != file) {
        report.problems(format!("{file} has no lock of the standard library"), lines_with_locks(text));
    }
}

/// Returns the lines that name a lock of the standard library, except those in unit tests.
fn lines_with_locks(text: &str) -> Vec<String> {
    const LOCKS: &[&str] = &["OnceLock", "LazyLock", "RwLock", "Condvar", "Barrier"];
    let words = |line: &str| -> Vec<String> {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect()
    };
    let is_lock = |line: &str| {
        let words = words(line);
        let has = |word: &str| words.iter().any(|other| other == word);
        LOCKS.iter().any(|lock| has(lock))
            || (line.contains("sync::") && (has("Mutex") || has("MutexGuard") || has("Once")))
    };
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines()
        .enumerate()
        .filter(|(_, line)| is_lock(line.split("//").next().unwrap_or_default()))
        .map(|(i, _)| format!("line {}", i + 1))
        .collect()
}

pub fn check(file: &str, text: &str, report: &mut Report) {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let lines_with = |what: &dyn Fn(&str) -> bool| -> Vec<String> {
        code.iter().enumerate().filter(|(_, line)| what(line)).map(|(i, _)| format!("line {}", i + 1)).collect()
    };
    let allows = |line: &str| {
        line.contains("unsafe_code")
            && ["allow", "expect", "warn"].iter().any(|level| line.contains(&format!("{level}(")))
    };
    let may_allow = ALLOWING.contains(&file);
    let in_ffi = file.starts_with("src/ffi/");
    if !may_allow {
        report.problems(format!("{file} may not allow unsafe code"), lines_with(&allows));
    }
    if !may_allow && !in_ffi {
        let is_unsafe =
            |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe");
        report.problems(format!("{file} has no unsafe code"), lines_with(&is_unsafe));
        let of_c = |line: &str| {
            ["crate::ffi", "c_char", "c_void"].iter().any(|word| line.contains(word))
                || line.split_once('"').is_some_and(|(_, text)| text.contains("netlib_"))
        };
        report.problems(format!("{file} knows nothing of the C ABI"), lines_with(&of_c));
    }
}

/// Returns all Rust files in a directory and its subdirectories, sorted.
pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
