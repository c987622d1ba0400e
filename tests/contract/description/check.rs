//! Checks that netlib.api.json describes every function completely.

use crate::description::{calls, direction, kinds, length, statuses, threads_of};
use crate::model::{Function, Header};
use kinds::Kind;

/// Returns the names of incompletely described items, each with a problem.
pub fn problems(header: &Header) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for function in header.functions.iter().chain(&header.callbacks) {
        let mut found = kind_problems(header, function);
        found.extend(length_problems(header, function));
        problems.extend(found.into_iter().map(|problem| (function.name.clone(), problem)));
    }
    for function in &header.functions {
        let found = waiting_problems(header, function);
        problems.extend(found.into_iter().map(|problem| (function.name.clone(), problem)));
    }
    for callback in &header.callbacks {
        let found = caller_problems(header, callback);
        problems.extend(found.into_iter().map(|problem| (callback.name.clone(), problem)));
    }
    for handle in header.handles.iter().filter(|handle| threads_of(handle).is_none()) {
        problems.push((handle.name.clone(), "no thread tag in ** **".to_owned()));
    }
    problems
}

fn kind_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = Vec::new();
    if function.place.section.is_empty() {
        problems.push("a function outside the sections".to_owned());
    }
    if kinds::of_result(header, function) == Kind::Unknown {
        problems.push(format!("the kind of the result, {}, is unknown", function.returns));
    }
    for param in &function.params {
        let kind = kinds::of_param(header, function, param);
        let text = function.doc.param(&param.name).unwrap_or("");
        if kind == Kind::Unknown {
            problems.push(format!("parameter {}: the kind of {} is unknown", param.name, param.ctype));
        }
        if param.ctype.starts_with("int32_t") && text.contains("0 or 1") && kind != Kind::TruthValue {
            problems.push(format!("parameter {}: the text of a truth value begins with \"0 or 1\"", param.name));
        }
    }
    let is_question = ["_is_", "_has_", "_accepted"].iter().any(|word| function.name.contains(word));
    let is_answer = function.returns == "int32_t" && function.name.starts_with("netlib_");
    if is_question && is_answer && kinds::of_result(header, function) == Kind::Number {
        problems.push("the text of a truth value begins with \"Returns 1 if\"".to_owned());
    }
    problems
}

fn length_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = Vec::new();
    for param in &function.params {
        let kind = kinds::of_param(header, function, param);
        let is_named_length = ["len", "count", "size"].contains(&param.name.as_str());
        if param.ctype == "size_t" && is_named_length && !matches!(kind, Kind::Length(_)) {
            problems.push(format!("parameter {}: the length belongs to no pointer", param.name));
        }
        let needs_length = matches!(kind, Kind::Bytes | Kind::Buffer | Kind::Array(_));
        if needs_length && length(header, function, &param.name, false).is_none() {
            problems.push(format!("parameter {}: the pointer has no length", param.name));
        }
        for output in [false, true] {
            let ctype = if output { "size_t*" } else { "size_t" };
            let lengths = function.params.iter().filter(|other| other.ctype == ctype);
            let of_param =
                lengths.filter(|other| kinds::length_of(header, function, other).as_ref() == Some(&param.name));
            if of_param.count() > 1 {
                problems.push(format!("parameter {}: the pointer has several lengths", param.name));
            }
        }
    }
    let has_data = matches!(kinds::of_result(header, function), Kind::Bytes | Kind::Array(_));
    if has_data && length(header, function, "return", false).is_none() {
        problems.push("the result has no length".to_owned());
    }
    problems
}

fn waiting_problems(header: &Header, function: &Function) -> Vec<String> {
    let mut problems = Vec::new();
    let found = statuses::of(header, function).names;
    let reports_limit = found.contains("NETLIB_CANCELLED") && found.contains("NETLIB_DEADLINE_EXCEEDED");
    let has_limit = calls::has_limit(function) && calls::may_block(function);
    if has_limit && !reports_limit {
        problems.push("a function with a limit returns NETLIB_CANCELLED and NETLIB_DEADLINE_EXCEEDED".to_owned());
    }
    if function.doc.blocks.as_ref().is_some_and(|text| text.is_empty()) {
        problems.push("an empty @blocks".to_owned());
    }
    let can_be_interrupted = reports_limit && function.doc.blocks.is_none() && !calls::has_limit(function);
    let never_waits = ["_step", "_check", "_attempt_status"].iter().any(|end| function.name.ends_with(end));
    if can_be_interrupted && function.returns_status() && !never_waits {
        problems.push("a function that a limit ends has the tag @blocks, or a limit".to_owned());
    }
    // A check function reports the failure of a callback that a setter has invoked.
    let is_check = function.name.ends_with("_options_check");
    let own = function.doc.returns.as_deref().unwrap_or("");
    let reports_callback = own.contains("`NETLIB_CALLBACK_FAILED`");
    if reports_callback && !is_check && function.returns_status() && calls::callbacks(header, function).is_empty() {
        problems.push("NETLIB_CALLBACK_FAILED, but no callback names the function in its @called-by".to_owned());
    }
    problems
}

fn caller_problems(header: &Header, callback: &Function) -> Vec<String> {
    let Some(text) = &callback.doc.called_by else {
        return vec!["no @called-by, which names the functions that invoke the callback".to_owned()];
    };
    let mut problems = Vec::new();
    for name in text.split('`').skip(1).step_by(2) {
        match header.function(name) {
            None => problems.push(format!("@called-by names {name}, which is no function")),
            Some(function) if function.params.iter().all(|param| !is_input(header, function, param)) => {
                problems.push(format!("@called-by names {name}, which has no handle"));
            }
            Some(_) => {}
        }
    }
    problems
}

fn is_input(header: &Header, function: &Function, param: &crate::model::Param) -> bool {
    matches!(kinds::of_param(header, function, param), Kind::Handle(_)) && direction(header, function, param) == "in"
}
