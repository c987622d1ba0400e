//! Finds the functions that wait, and the callbacks that a function may invoke.

use crate::description::statuses;
use crate::model::{Function, Header};

/// Returns true if a function may wait. The tag `@blocks` of its documentation decides: the tag says "never" for a
/// function that compares a limit but does not wait. A function without the tag may wait if it has the parameter
/// `limit`.
pub fn may_block(function: &Function) -> bool {
    match &function.doc.blocks {
        Some(text) => !text.starts_with("never"),
        None => has_limit(function),
    }
}

/// Returns true for a function with a limit, unless the function only stores the limit.
pub fn has_limit(function: &Function) -> bool {
    let mut params = function.params.iter().skip(1);
    params.any(|param| param.ctype == "const netlib_limit*" && param.name == "limit")
        && !function.name.contains("_set_")
}

/// Returns the types of the callbacks that a function may invoke. The tag `@called-by` of a callback names functions,
/// or describes a group of functions. Every function that releases a handle may invoke a `netlib_ctx_free_fn`, which is
/// not in the result.
pub fn callbacks<'a>(header: &'a Header, function: &Function) -> Vec<&'a str> {
    let makes_handshake =
        || function.returns_status() && statuses::of(header, function).names.contains("NETLIB_TLS_HANDSHAKE_EOF");
    let is_caller = |text: &str| {
        let mut names = text.split('`').skip(1).step_by(2);
        names.any(|name| name == function.name)
            || text.contains("every call that waits") && has_limit_or_handle(function)
            || text.contains("every call that makes a TLS handshake") && makes_handshake()
    };
    let callers = header.callbacks.iter().filter(|callback| callback.doc.called_by.as_deref().is_some_and(is_caller));
    callers.map(|callback| callback.name.as_str()).collect()
}

/// Returns true for a function that waits with a limit: a parameter, or the limit of the handle.
fn has_limit_or_handle(function: &Function) -> bool {
    let obeys_limit = |text: &String| text.contains("limit");
    may_block(function) && function.doc.blocks.as_ref().is_none_or(obeys_limit)
}
