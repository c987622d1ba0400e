//! Every public item of netlib.h says what it does, in one grammar, so that a reader finds the same facts in the same
//! place and the NULL sweep can read what to expect.

use std::collections::BTreeSet;

use crate::data::Table;
use crate::env::Env;
use crate::header::BEST_EFFORT;
use crate::model::{Doc, Function, Header, Item, Param};
use crate::report::Report;

/// What a pointer parameter's documentation says of NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Null {
    /// "Not NULL", or "Not NULL unless `len` is 0".
    Refused,
    /// "May be NULL", and for functions without a status what is returned then, if that is a C expression.
    Allowed(Option<String>),
}

pub fn run(env: &Env, report: &mut Report) {
    let header = env.header();
    check(&header, report);
    check_width(&env.header_text(), report);
    for row in Table::load(env, "tls-names").rows {
        check_names(&header, &row[1], &row[2], report);
    }
}

/// As wide as the sources are.
const WIDEST: usize = 120;

pub fn check_width(header: &str, report: &mut Report) {
    let lines = header.lines().enumerate().map(|(at, line)| (at + 1, line.chars().count()));
    let wide = lines.filter(|(_, width)| *width > WIDEST);
    let problems = wide.map(|(line, width)| format!("line {line} has {width} columns, more than {WIDEST}"));
    report.problems("netlib.h", problems.collect());
}

/// The table of TLS names must follow netlib.h when a function is renamed.
pub fn check_names(header: &Header, what: &str, text: &str, report: &mut Report) {
    let unknown = words(text).filter(|name| !header.declares(name) && !is_family(header, name));
    report.problems(what, unknown.map(|name| format!("it speaks of {name}, which netlib.h does not have")).collect());
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
        if !["**Immutable**", "**Thread-safe**", "**Single**", "one reader"]
            .iter()
            .any(|tag| handle.doc.whole.contains(tag))
        {
            problems.push("no thread tag: **Immutable**, **Thread-safe** or **Single**".to_owned());
        }
        if header.function(&format!("{}_free", handle.name)).is_none() {
            problems.push("no _free".to_owned());
        }
        report.problems(&handle.name, problems);
    }
    for item in header.typedefs.iter().chain(&header.macros) {
        report.problems(&item.name, item_problems(header, item));
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
        if let Some(text) = function.doc.param(&param.name) {
            if let Err(problem) = null(text) {
                problems.push(format!("parameter {}: {problem}", param.name));
            }
            if param.ctype.ends_with("**")
                && !param.ctype.starts_with("const char")
                && !text.starts_with("out, owned")
            {
                problems.push(format!("parameter {}: a handle that is stored is \"out, owned\"", param.name));
            }
            let numbers =
                ["size_t*", "int32_t*", "netlib_status*", "int64_t*", "uint64_t*", "int*", "double*", "uint8_t*"];
            let is_number = numbers.contains(&param.ctype.as_str()) || param.ctype.starts_with("enum ");
            if is_number && !(text.starts_with("out") || text.starts_with("in/out")) {
                problems.push(format!("parameter {}: it begins with \"out\" or \"in/out\"", param.name));
            }
        }
    }
    if !function.returns_status() && function.returns != "void" {
        let fallback = function
            .params
            .first()
            .filter(|first| is_handle(header, first))
            .map(|first| (first, function.doc.param(&first.name).map(null)));
        if let Some((first, Some(Ok(null)))) = fallback
            && !matches!(null, Null::Allowed(Some(_)))
            && !returns_another(function, first)
        {
            problems.push(format!("parameter {}: it says \"May be NULL: … is returned.\"", first.name));
        }
    }
    if function.returns_status() && !function.doc.returns.as_ref().is_some_and(|text| text.contains("NETLIB_")) {
        problems.push("@return names no status".to_owned());
    }
    let owned = function.returns.ends_with('*') && !function.returns.starts_with("const ");
    let can_fail = function.returns_status() && !BEST_EFFORT.contains(&function.name.as_str());
    if (owned || can_fail) != function.must_use {
        problems.push("NETLIB_MUST_USE is of handles to free, and of a status unless it is best effort".to_owned());
    }
    if function.name.starts_with("netlib_tls_options_") && function.params.len() > 1 {
        problems.extend(unplaced_option(&function.doc.whole));
    }
    if is_setting(function) && !function.doc.whole.to_lowercase().contains("default") {
        problems.push("a setting that says nothing of its default".to_owned());
    }
    if function.deprecated != (function.section == "deprecated") {
        problems.push("the section deprecated is of the functions with the attribute, and of no others".to_owned());
    }
    if function.returns == "netlib_status" && !function.returns_status() && !function.name.ends_with("_status") {
        problems.push("a function that can fail takes `netlib_error **err` last".to_owned());
    }
    problems
}

/// A setter of options, or of a handle that holds a setting; an old name says what it is the old name of.
fn is_setting(function: &Function) -> bool {
    let of_connecting = function.name.starts_with("netlib_connect_options_") && function.params.len() > 1;
    let sets = ["_options_set_", "netlib_connect_set_", "netlib_tls_stream_set_", "netlib_body_set_"];
    of_connecting || !function.deprecated && sets.iter().any(|set| function.name.contains(set))
}

/// Who sets an option of TLS has most often set it elsewhere before.
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
    // What releases a `ctx` cannot fail.
    let returns_number = callback.returns == "int32_t" || callback.returns.starts_with("enum ");
    let may_return = returns_number || callback.name == "netlib_ctx_free_fn";
    if !may_return || callback.params.first().is_none_or(|first| first.ctype != "void*") {
        problems.push("a callback is int32_t, or an enum, (void *ctx, …)".to_owned());
    }
    problems
}

/// Values whose documentation names one enum have its type, so that compilers see another one's value. Truth values are
/// numbers, because foreign-function layers read a returned `bool` wrongly.
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

/// What functions and callbacks have in common.
fn callable_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = doc_problems(header, &function.doc);
    problems.extend(type_problems(function));
    if function.doc.summary.is_empty() {
        return problems;
    }
    for param in &function.params {
        match function.doc.param(&param.name) {
            None => problems.push(format!("no @param {}", param.name)),
            Some("") => problems.push(format!("nothing is said of parameter {}", param.name)),
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
    match &function.doc.threads {
        Some(text) if !text.is_empty() => {}
        _ => problems.push("no @threads".to_owned()),
    }
    match &function.doc.since {
        Some(text) if is_version(text) => {}
        _ => problems.push("no @since with a version".to_owned()),
    }
    match (&function.doc.returns, function.returns.as_str()) {
        (Some(_), "void") => problems.push("@return of a function that returns nothing".to_owned()),
        (None, returns) if returns != "void" => problems.push("no @return".to_owned()),
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
        // A name followed by a star or an underscore's rest stands for a family.
        if !header.declares(name) && !is_family(header, name) {
            problems.push(format!("it speaks of {name}, which netlib.h does not have"));
        }
    }
    problems
}

/// The words that look like names of the library; quoted ones are text that it returns.
fn names(text: &str) -> Vec<&str> {
    text.split('"').step_by(2).flat_map(words).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("netlib_") || word.starts_with("NETLIB_"))
}

/// `netlib_retry_options_set_` of "netlib_retry_options_set_*", `netlib_x` of "netlib_x_free".
fn is_family(header: &Header, name: &str) -> bool {
    let known = |prefix: &str| {
        header.functions.iter().any(|function| function.name.starts_with(prefix))
            || header.constants().any(|constant| constant.name.starts_with(prefix))
    };
    name.ends_with('_') && known(name) || name.starts_with("netlib_x")
}

/// What a pointer parameter's text says of NULL: exactly one of the two phrases.
pub fn null(text: &str) -> Result<Null, String> {
    match (text.matches("Not NULL").count(), text.matches("May be NULL").count()) {
        (1, 0) => Ok(Null::Refused),
        (0, 1) => {
            let after = text.split("May be NULL").nth(1).unwrap_or("");
            Ok(Null::Allowed(after.strip_prefix(": ").and_then(returned)))
        }
        _ => Err("it says neither \"Not NULL\" nor \"May be NULL\" exactly once".to_owned()),
    }
}

/// `X` of "X is returned." or "`X` is returned, …", when it is a C constant.
fn returned(text: &str) -> Option<String> {
    let (value, _) = text.split_once(" is returned")?;
    let value = value.trim_matches('`');
    let first = value.chars().next()?;
    let is_word = value.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let is_constant = first.is_ascii_digit()
        || first == '-'
        || value.starts_with("NETLIB_")
        || ["NULL", "true", "false"].contains(&value);
    (is_word && is_constant).then(|| value.to_owned())
}

/// "May be NULL: `other` is returned", where the other is a parameter too.
fn returns_another(function: &Function, param: &Param) -> bool {
    let text = function.doc.param(&param.name).unwrap_or("");
    let returned = text.split("May be NULL: ").nth(1).and_then(|after| after.split_once(" is returned"));
    returned.is_some_and(|(value, _)| function.params.iter().any(|other| other.name == value.trim_matches('`')))
}

pub fn is_handle(header: &Header, param: &Param) -> bool {
    let pointed = param.ctype.trim_start_matches("const ").trim_end_matches('*');
    param.ctype.matches('*').count() == 1 && header.handles.iter().any(|handle| handle.name == pointed)
}

fn is_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
}
