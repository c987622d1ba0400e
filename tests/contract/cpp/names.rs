//! Finds the C++ names of the items of netlib.h, by the rules on the first page of netlib.hpp.

use std::collections::BTreeSet;

use crate::model::{Enum, Function, Header};

/// Keywords of C++, and macros of the C library, that are parts of names in netlib.h.
const TAKEN: &[&str] = &[
    "and",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "int",
    "linux",
    "long",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typename",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
];

/// Returns a name that is neither a keyword nor a number.
pub fn valid(name: &str) -> String {
    let name = name.to_lowercase();
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("v{name}"),
        _ if TAKEN.contains(&name.as_str()) => name + "_",
        _ => name,
    }
}

/// Returns the C++ name of a type, function or constant of the namespace.
pub fn of(c_name: &str) -> String {
    let name = c_name.trim_start_matches("netlib_").trim_start_matches("NETLIB_");
    match name {
        "status_code" => "status".to_owned(),
        name => valid(name),
    }
}

/// Returns the C++ names of an enum's values, and the C names of values that are limits instead of values of the enum.
pub fn of_values(listed: &Enum) -> (Vec<(String, &str)>, Vec<&str>) {
    let names: Vec<&str> = listed.values.iter().map(|value| value.name.as_str()).collect();
    let own = format!("{}_", listed.name.to_uppercase());
    let (inside, outside): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.starts_with(&own));
    let (inside, outside, prefix) =
        if inside.len() > 1 { (inside, outside, own) } else { (names.clone(), vec![], common_prefix(&names)) };
    (inside.iter().map(|&name| (valid(&name[prefix.len()..]), name)).collect(), outside)
}

/// Returns the longest common start of the names that ends with "_".
fn common_prefix(names: &[&str]) -> String {
    let first = names[0];
    let mut ends = first.match_indices('_').map(|(at, _)| &first[..=at]);
    ends.rfind(|prefix| names.iter().all(|name| name.starts_with(prefix))).unwrap_or("").to_owned()
}

/// Returns the handle to whose class a function belongs: the longest handle name at the start of the function's name,
/// if the first parameter is the handle or the function makes the handle.
pub fn class_of<'a>(header: &'a Header, function: &Function) -> Option<&'a str> {
    let begins = |name: &str| function.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
    let handles = header.handles.iter().map(|handle| handle.name.as_str()).filter(|name| begins(name));
    let handle = handles.max_by_key(|name| name.len())?;
    let makes = || {
        let stored = format!("{handle}**");
        function.params.iter().any(|param| param.ctype == stored) || pointed(&function.returns) == handle
    };
    (is_member(handle, function) || makes()).then_some(handle)
}

/// Returns true if the first parameter of a function is the handle itself.
pub fn is_member(handle: &str, function: &Function) -> bool {
    function.params.first().is_some_and(|first| pointed(&first.ctype) == handle && !first.ctype.ends_with("**"))
}

/// Returns the type to which a pointer type points, without const.
pub fn pointed(ctype: &str) -> &str {
    ctype.trim_start_matches("const ").trim_end_matches('*')
}

/// Returns the name of a member function, or of a function of the namespace.
pub fn of_function(header: &Header, function: &Function) -> String {
    let Some(handle) = class_of(header, function) else { return of(&function.name) };
    let name = &function.name[handle.len() + 1..];
    let setting = name.strip_prefix("set_").filter(|_| handle.ends_with("_options"));
    match setting.unwrap_or(name) {
        "new" => "make".to_owned(),
        name => valid(name),
    }
}

/// Replaces each "§name" by the type `name` of the namespace netlib. The name is qualified if the scope declares
/// something else of the same name.
pub fn resolve(text: &str, scope: &BTreeSet<String>) -> String {
    let mut parts = text.split('§');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(part.len());
        if scope.contains(&part[..end]) {
            out.push_str("netlib::");
        }
        out.push_str(part);
    }
    out
}
