//! Finds out how functions treat NULL, from the conventions on the first page of netlib.h and from the documentation,
//! which states the exceptions.

use crate::model::{Function, Header, Param};

/// How a function treats NULL for one of its pointer parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Null {
    /// NULL is an error: a function that returns a status returns NETLIB_NULL_ARGUMENT, and other functions return
    /// their fallback value.
    Refused,
    /// NULL is allowed. Contains the value that the function returns for NULL; `None` if NULL does not determine the
    /// result, or if the result is not a C constant.
    Allowed(Option<String>),
}

/// Returns how a function treats NULL for a pointer parameter. The @param text takes precedence over the conventions on
/// the first page of netlib.h.
pub fn null(header: &Header, function: &Function, param: &Param) -> Result<Null, String> {
    let text = function.doc.param(&param.name).unwrap_or("");
    let is_getter = !function.returns_status() && is_first_handle(header, function, param);
    match (text.matches("Not NULL").count(), text.matches("May be NULL").count()) {
        (1, 0) => Ok(Null::Refused),
        (0, 1) => {
            let after = text.split("May be NULL").nth(1).unwrap_or("");
            Ok(Null::Allowed(after.strip_prefix(": ").and_then(returned)))
        }
        (0, 0) if is_getter => Ok(Null::Allowed(fallback(function))),
        (0, 0) if is_optional(header, function, param) => Ok(Null::Allowed(None)),
        (0, 0) => Ok(Null::Refused),
        _ => Err("it says \"Not NULL\" and \"May be NULL\", or one of them twice".to_owned()),
    }
}

/// Returns true for the parameters that may be NULL in every function: the error, a callback's `ctx` and `ctx_free`, a
/// limit, options, and the length or count that belongs to a returned pointer.
pub fn is_optional(header: &Header, function: &Function, param: &Param) -> bool {
    let is_receiver = function.params.first().is_some_and(|first| first.name == param.name);
    let is_count = param.ctype == "size_t*" && function.returns.ends_with('*');
    ["err", "ctx", "ctx_free"].contains(&param.name.as_str())
        || !is_receiver && param.ctype == "const netlib_limit*"
        || is_handle(header, param) && param.ctype.starts_with("const ") && param.ctype.ends_with("_options*")
        || is_count && ["len", "count"].contains(&param.name.as_str())
}

pub fn is_first_handle(header: &Header, function: &Function, param: &Param) -> bool {
    function.params.first().is_some_and(|first| first.name == param.name) && is_handle(header, param)
}

/// Returns the result of a getter for a NULL handle: the last constant before "for NULL" in its documentation,
/// otherwise NULL or 0.
fn fallback(function: &Function) -> Option<String> {
    if function.returns == "void" {
        return None;
    }
    let text = function.doc.whole.replace('\n', " ");
    let Some((before, _)) = text.split_once(" for NULL") else {
        return Some(if function.returns.ends_with('*') { "NULL" } else { "0" }.to_owned());
    };
    before.rsplit([' ', '`', ';', ',', '(']).find(|word| is_constant(word)).map(str::to_owned)
}

/// Returns the constant `X` from text that begins with "X is returned" or "`X` is returned".
fn returned(text: &str) -> Option<String> {
    let (value, _) = text.split_once(" is returned")?;
    let value = value.trim_matches('`');
    is_constant(value).then(|| value.to_owned())
}

fn is_constant(value: &str) -> bool {
    let is_word = value.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let is_number = value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    is_word && (is_number || value.starts_with("NETLIB_") || value == "NULL")
}

pub fn is_handle(header: &Header, param: &Param) -> bool {
    let pointed = param.ctype.trim_start_matches("const ").trim_end_matches('*');
    param.ctype.matches('*').count() == 1 && header.handles.iter().any(|handle| handle.name == pointed)
}
