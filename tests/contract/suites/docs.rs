//! Checks the documentation of every public item of netlib.h: every comment follows the same grammar, so that readers
//! find each fact in the expected place, and the suite `nulls` can read the expected result of a NULL argument.

use std::collections::BTreeSet;

use crate::data::Table;
use crate::description::nulls::{is_first_handle, is_optional, null};
use crate::description::{FIRST_RELEASE, kinds};
use crate::env::Env;
use crate::header::BEST_EFFORT;
use crate::model::{Doc, Function, Header, Item, Param};
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let header = env.header();
    check(&header, report);
    check_width(&env.header_text(), report);
    for row in Table::load(env, "tls-names").rows {
        check_names(&header, &row[1], &row[2], report);
    }
}

/// The maximum width of a line of netlib.h, the same as in the sources.
const WIDEST: usize = 120;

pub fn check_width(header: &str, report: &mut Report) {
    let lines = header.lines().enumerate().map(|(at, line)| (at + 1, line.chars().count()));
    let wide = lines.filter(|(_, width)| *width > WIDEST);
    let problems = wide.map(|(line, width)| format!("line {line} has {width} columns, more than {WIDEST}"));
    report.problems("netlib.h", problems.collect());
}

/// The table of TLS names may contain only functions that netlib.h declares.
pub fn check_names(header: &Header, what: &str, text: &str, report: &mut Report) {
    let unknown = words(text).filter(|name| !header.declares(name) && !is_family(header, name));
    report.problems(what, unknown.map(|name| format!("it names {name}, which netlib.h does not declare")).collect());
}

pub fn check(header: &Header, report: &mut Report) {
    for function in &header.functions {
        report.problems(&function.name, function_problems(header, function));
    }
    for callback in &header.callbacks {
        report.problems(&callback.name, callback_problems(header, callback));
    }
    for handle in &header.handles {
        let mut problems = item_problems(header, handle);
        if !["**Immutable**", "**Thread-safe**", "**One call at a time**", "one reader"]
            .iter()
            .any(|tag| handle.doc.whole.contains(tag))
        {
            problems.push("no thread tag: **Immutable**, **Thread-safe** or **One call at a time**".to_owned());
        }
        let is_options = handle.name.ends_with("_options");
        let needed: &[&str] = if is_options { &["_new", "_clone", "_check", "_free"] } else { &["_free"] };
        let missing = needed.iter().filter(|end| header.function(&format!("{}{end}", handle.name)).is_none());
        problems.extend(missing.map(|end| format!("no {end}")));
        report.problems(&handle.name, problems);
    }
    for item in header.typedefs.iter().chain(&header.macros) {
        report.problems(&item.name, item_problems(header, item));
    }
    for item in &header.structs {
        report.problems(&item.name, doc_problems(header, &item.doc));
    }
    for item in &header.macros {
        let is_int = item.value.trim_matches(['(', ')']).parse::<i32>().is_ok();
        let in_conditions = item.name.starts_with("NETLIB_VERSION_");
        report.check(
            !is_int || in_conditions,
            format!("{}: a constant that fits an int is an enumerator, which other languages can read", item.name),
        );
    }
    for listed in &header.enums {
        report.problems(&listed.name, doc_problems(header, &listed.doc));
        for value in &listed.values {
            report.problems(&value.name, item_problems(header, value));
        }
    }
}

fn function_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = callable_problems(header, function);
    for param in function.params.iter().filter(|param| header.is_pointer(param)) {
        let text = function.doc.param(&param.name).unwrap_or("");
        if let Err(problem) = null(header, function, param) {
            problems.push(format!("parameter {}: {problem}", param.name));
        }
        let numbers =
            ["size_t*", "int32_t*", "netlib_status*", "int64_t*", "uint64_t*", "int*", "double*", "uint8_t*"];
        let is_number = numbers.contains(&param.ctype.as_str()) || param.ctype.starts_with("enum ");
        if is_number && !text.is_empty() && !(text.starts_with("out") || text.starts_with("in/out")) {
            problems.push(format!("parameter {}: it begins with \"out\" or \"in/out\"", param.name));
        }
    }
    if function.returns_status() && !function.doc.returns.as_ref().is_some_and(|text| text.contains("NETLIB_")) {
        problems.push("@return names no status".to_owned());
    }
    // `void *` is a pointer of the application, which netlib only returns.
    let owned =
        function.returns.ends_with('*') && !function.returns.starts_with("const ") && function.returns != "void*";
    let can_fail = function.returns_status() && !BEST_EFFORT.contains(&function.name.as_str());
    if (owned || can_fail) != function.must_use {
        problems.push("NETLIB_MUST_USE is of handles to free, and of a status unless it is best effort".to_owned());
    }
    if function.name.starts_with("netlib_tls_options_") && function.params.len() > 1 && !is_check(function) {
        problems.extend(unplaced_option(&function.doc.whole));
    }
    if is_setting(function) && !function.doc.whole.to_lowercase().contains("default") {
        problems.push("a setting that says nothing of its default".to_owned());
    }
    if function.deprecated.is_some() != (function.place.chapter == OLD_NAMES) {
        problems.push(format!("the chapter \"{OLD_NAMES}\" has the functions with the attribute, and no others"));
    }
    if function.returns == "netlib_status" && !function.returns_status() && !function.name.ends_with("_status") {
        problems.push("a function that can fail takes `netlib_error **err` last".to_owned());
    }
    problems
}

/// The title of the chapter with the deprecated functions.
const OLD_NAMES: &str = "Old names of urllib3.";

/// Returns true for a function that changes a setting of options or of another handle. Deprecated functions do not
/// count, because their documentation refers to the new name.
fn is_setting(function: &Function) -> bool {
    let has_value = function.params.len() > 1 && !is_check(function);
    let of_connecting = function.name.starts_with("netlib_connect_options_") && has_value;
    let sets = ["_options_set_", "netlib_connect_set_", "netlib_stream_set_", "netlib_body_set_"];
    of_connecting || function.deprecated.is_none() && sets.iter().any(|set| function.name.contains(set))
}

/// Returns true for a function that reports the first error of options, such as `netlib_retry_options_check`.
fn is_check(function: &Function) -> bool {
    function.name.ends_with("_options_check")
}

/// Returns a problem if the documentation of a TLS option lacks the default, or the name of a similar option in another
/// library.
fn unplaced_option(doc: &str) -> Option<String> {
    let states_default = doc.contains("Default: ") || doc.contains("Default:\n");
    if !states_default {
        return Some("an option without its default".to_owned());
    }
    let elsewhere = ["OpenSSL", "Python", "urllib3", "curl"];
    let is_named = elsewhere.iter().any(|name| doc.contains(name));
    (!is_named).then(|| format!("an option without its nearest name in one of {}", elsewhere.join(", ")))
}

fn callback_problems(header: &Header, callback: &Function) -> Vec<String> {
    let mut problems = callable_problems(header, callback);
    // A function that releases a `ctx` cannot fail. A callback that decides stores its decision and returns nothing,
    // because some foreign-function layers return an earlier result to C when the callback raises an exception.
    let decides = kinds::decision_of(header, callback).is_some();
    let returns = if decides || callback.name == "netlib_ctx_free_fn" { "void" } else { "int32_t" };
    if callback.returns != returns || callback.params.first().is_none_or(|first| first.ctype != "void*") {
        problems.push(format!("the callback is not {returns} (void *ctx, …)"));
    }
    problems
}

/// A parameter whose documentation names an enum must have the type of that enum, so that compilers detect values of
/// another enum. Truth values have the type int32_t, because some foreign-function interfaces read a returned `bool`
/// wrongly.
fn type_problems(function: &Function) -> Vec<String> {
    let mut problems = Vec::new();
    let result = ("the result", &function.returns, function.doc.returns.as_deref());
    let params = function.params.iter();
    let params = params.map(|param| (param.name.as_str(), &param.ctype, function.doc.param(&param.name)));
    for (what, ctype, text) in params.chain([result]) {
        let named = text.and_then(|text| text.split_once("one of `enum ")?.1.split('`').next());
        if let Some(named) = named.filter(|name| *name != "netlib_status_code")
            && ctype.trim_end_matches('*') != format!("enum {named}")
        {
            problems.push(format!("{what}: one value of `enum {named}` has the type of that enum"));
        }
        if ctype.starts_with("bool") {
            problems.push(format!("{what}: a truth value is int32_t"));
        }
    }
    problems
}

/// Makes the checks that apply to both functions and callbacks.
fn callable_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = doc_problems(header, &function.doc);
    problems.extend(type_problems(function));
    if function.doc.summary.is_empty() {
        return problems;
    }
    for param in &function.params {
        match function.doc.param(&param.name) {
            None if is_conventional(header, function, param) => {}
            None if function.doc.whole.contains(&format!("`{}`", param.name)) => {}
            None => problems.push(format!("nothing is said of parameter {}", param.name)),
            Some("") => problems.push(format!("an empty @param {}", param.name)),
            Some("Not NULL.") => problems.push(format!("@param {} repeats the convention", param.name)),
            Some(_) => {}
        }
    }
    let known: BTreeSet<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
    for (name, _) in function.doc.params.iter().filter(|(name, _)| !known.contains(name.as_str())) {
        problems.push(format!("@param {name}, which is no parameter (or an unknown tag)"));
    }
    for name in function.doc.repeated_params() {
        problems.push(format!("@param {name} stands there twice"));
    }
    if function.doc.threads.as_deref().is_some_and(|text| ["", "any"].contains(&text)) {
        problems.push("@threads is for what the tags of the handles do not say".to_owned());
    }
    if function.doc.since.as_deref().is_some_and(|text| !is_version(text) || text == FIRST_RELEASE) {
        problems.push(format!("@since is a version later than {FIRST_RELEASE}"));
    }
    let says_result = function.doc.returns.is_some() || function.doc.summary.starts_with("Returns ");
    match (&function.doc.returns, function.returns.as_str()) {
        (Some(_), "void") => problems.push("@return of a function that returns nothing".to_owned()),
        (None, returns) if returns != "void" && !says_result => {
            problems.push("no @return, and the text does not begin with \"Returns\"".to_owned());
        }
        (Some(text), _) if text.is_empty() => problems.push("an empty @return".to_owned()),
        _ => {}
    }
    problems
}

fn item_problems(header: &Header, item: &Item) -> Vec<String> {
    doc_problems(header, &item.doc)
}

fn doc_problems(header: &Header, doc: &Doc) -> Vec<String> {
    if doc.summary.is_empty() {
        return vec!["it has no documentation".to_owned()];
    }
    let mut problems = Vec::new();
    if !doc.summary.ends_with(['.', ':', '`', ')']) {
        problems.push(format!("its text does not end as a sentence does: \"{}\"", doc.summary));
    }
    for name in names(&doc.whole) {
        // A name that ends in a star or an underscore stands for a family of functions.
        if !header.declares(name) && !is_family(header, name) {
            problems.push(format!("it names {name}, which netlib.h does not declare"));
        }
    }
    // netlib.h does not include <poll.h>, which the code of the reader needs.
    let of_poll = ["`POLLIN`", "`POLLOUT`", "struct pollfd"].iter().any(|name| doc.whole.contains(name));
    if of_poll && !doc.whole.contains("<poll.h>") {
        problems.push("it uses names of <poll.h>, but does not name the header".to_owned());
    }
    problems
}

/// Returns the words that look like names of netlib.h. Quoted words do not count, because they are text that the
/// library returns.
fn names(text: &str) -> Vec<&str> {
    text.split('"').step_by(2).flat_map(words).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("netlib_") || word.starts_with("NETLIB_"))
}

/// Returns true for `netlib_retry_options_set_` of "netlib_retry_options_set_*", and for `netlib_x` of "netlib_x_free".
fn is_family(header: &Header, name: &str) -> bool {
    let known = |prefix: &str| {
        header.functions.iter().any(|function| function.name.starts_with(prefix))
            || header.constants().any(|constant| constant.name.starts_with(prefix))
    };
    name.ends_with('_') && known(name) || name.starts_with("netlib_x")
}

/// Returns true for parameters that need no @param text, because the first page of netlib.h or their type describes
/// them: those of [`is_optional`], the handle that a function is called on, a handle that is stored, a value of an
/// enum, a descriptor, a buffer, the length of the preceding pointer, an index, and the truth value of a setter whose
/// text begins with "Sets whether".
fn is_conventional(header: &Header, function: &Function, param: &Param) -> bool {
    let is_length = param.ctype == "size_t" && (param.name.ends_with("len") || param.name == "count");
    let is_stored_handle = header.handles.iter().any(|handle| param.ctype == format!("{}**", handle.name));
    let is_switch = param.ctype == "int32_t" && function.doc.summary.starts_with("Sets whether ");
    let is_enum = param.ctype.starts_with("enum ") && !param.ctype.ends_with('*');
    is_optional(header, function, param)
        || is_first_handle(header, function, param)
        || is_stored_handle
        || is_length
        || is_switch
        || is_enum
        || ["index", "on", "fd", "buf", "data"].contains(&param.name.as_str())
}

fn is_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
}
