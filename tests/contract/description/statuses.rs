//! Reads from the documentation of a function which statuses it may return.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::description::calls::may_block;
use crate::description::threads_of;
use crate::model::{Function, Header};

/// The statuses that, according to the first page of netlib.h, any function that returns a status may return.
pub const COMMON: &[&str] =
    &["NETLIB_OK", "NETLIB_NULL_ARGUMENT", "NETLIB_INVALID_ARGUMENT", "NETLIB_OUT_OF_MEMORY", "NETLIB_INTERNAL"];

/// The statuses with which an interrupt check ends a wait (`netlib_limit_new_interruptible`).
const OF_INTERRUPTS: &[&str] = &["NETLIB_INTERRUPTED", "NETLIB_CALLBACK_FAILED"];

#[derive(Clone, Default)]
pub struct Statuses {
    pub names: BTreeSet<String>,
    /// True if the function may also return a status that its documentation cannot list: the status with which an
    /// earlier call on the handle failed, or the status that a callback returned.
    pub and_others: bool,
}

/// Returns the statuses that the documentation of a function names, and those of the functions to which it refers.
/// Leaves out the statuses in [`COMMON`] that the documentation does not name.
pub fn of(header: &Header, function: &Function) -> Statuses {
    let mut statuses = collect(header, function, &mut Vec::new());
    statuses.names.extend(by_convention(header, function).into_iter().map(str::to_owned));
    if statuses.names.contains("NETLIB_CANCELLED") && may_block(function) {
        statuses.names.extend(OF_INTERRUPTS.iter().map(|&name| name.to_owned()));
    }
    statuses
}

/// Returns the statuses that the first page of netlib.h states under CALLBACKS and FORK: for a call that a callback
/// makes on its own handle, and for a call in a forked child.
fn by_convention(header: &Header, function: &Function) -> Vec<&'static str> {
    let Some(first) = function.params.first() else { return Vec::new() };
    let name = first.ctype.trim_start_matches("const ").trim_end_matches('*');
    let handle = header.handles.iter().find(|handle| handle.name == name).filter(|_| !first.ctype.ends_with("**"));
    let is_busy = handle.and_then(threads_of).is_some_and(|tag| ["one call at a time", "concurrent"].contains(&tag));
    let belongs_to_process = ["netlib_stream", "netlib_tls_engine"].contains(&name);
    let busy = is_busy.then_some("NETLIB_BUSY");
    busy.into_iter().chain(belongs_to_process.then_some("NETLIB_CLOSED")).collect()
}

/// Returns C macros with which C tests check that functions return only the statuses that their comments list. A macro
/// has the name of a function, calls that function, and passes the result to the function `check_described` in
/// harness.h.
pub fn checking_macros(header: &Header) -> String {
    let mut text = String::new();
    // check_described warns about an ignored result, so a function whose result may be ignored has no macro.
    for function in header.functions.iter().filter(|function| function.returns_status() && function.must_use) {
        let found = of(header, function);
        if found.and_others {
            continue;
        }
        let names = COMMON.iter().copied().chain(found.names.iter().map(String::as_str));
        let names = names.collect::<Vec<_>>().join(", ");
        let name = &function.name;
        let _ = writeln!(
            text,
            "#define {name}(...) check_described({name}(__VA_ARGS__), \"{name}\", (const netlib_status[]){{{names}, -1}})"
        );
    }
    text
}

fn collect(header: &Header, function: &Function, seen: &mut Vec<String>) -> Statuses {
    let mut statuses = Statuses::default();
    if seen.contains(&function.name) {
        return statuses;
    }
    seen.push(function.name.clone());
    let text = function.doc.returns.as_deref().unwrap_or(&function.doc.summary);
    for clause in text.split([';', '.']) {
        let (clause, exception) = clause.split_once(" except ").unwrap_or((clause, ""));
        let mut of_clause = Statuses::default();
        of_clause.names.extend(status_names(header, clause));
        let refers = ["all that", "failure", "fails"].iter().any(|words| clause.contains(words));
        for name in quoted(clause).filter(|_| refers) {
            if let Some(other) = header.function(name).filter(|other| other.returns_status()) {
                let inherited = collect(header, other, seen);
                of_clause.names.extend(inherited.names);
                of_clause.and_others |= inherited.and_others;
            }
        }
        let names_function = quoted(clause).any(|name| header.function(name).is_some());
        of_clause.and_others |= clause.contains("the status with which") && !names_function;
        of_clause.and_others |= clause.contains("statuses that") || clause.contains("the status of `");
        for excepted in status_names(header, exception) {
            of_clause.names.remove(&excepted);
        }
        statuses.names.extend(of_clause.names);
        statuses.and_others |= of_clause.and_others;
    }
    seen.pop();
    statuses
}

fn status_names(header: &Header, text: &str) -> Vec<String> {
    let codes = header.enums.iter().find(|listed| listed.name == "netlib_status_code");
    let is_status = |name: &&str| codes.is_some_and(|codes| codes.values.iter().any(|value| value.name == *name));
    quoted(text).filter(is_status).map(str::to_owned).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
