//! Generates `include/netlib.cdef.h`: the declarations of netlib.h without macros, attributes and comments, for tools
//! that read C declarations but have no preprocessor.

use std::fmt::Write as _;

use crate::model::{Enum, Function, Header, Param};

const FIRST_LINES: &str = "\
/* The declarations of netlib.h for cffi, LuaJIT's ffi.cdef and PHP's FFI::cdef, which have no preprocessor. C and C++
 * programs include netlib.h. netlib.api.json contains the macros and the documentation.
 *
 * This file is generated from the sources of the library. To change it, change the sources and run `make header`.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
";

/// Returns the whole text of `include/netlib.cdef.h`. Types come before functions, so that each name is declared before
/// its first use.
pub fn generate(header: &Header) -> String {
    let mut text = FIRST_LINES.to_owned() + "\n";
    for handle in &header.handles {
        let _ = writeln!(text, "typedef struct {0} {0};", handle.name);
    }
    for listed in &header.enums {
        add_enum(listed, &mut text);
    }
    text.push('\n');
    for item in &header.typedefs {
        let _ = writeln!(text, "typedef {} {};", item.value, item.name);
    }
    for item in &header.structs {
        let _ = writeln!(text, "typedef struct {} {{", item.name);
        item.fields.iter().for_each(|field| {
            let _ = writeln!(text, "    {};", declare(field));
        });
        let _ = writeln!(text, "}} {};", item.name);
    }
    for callback in &header.callbacks {
        fill(&format!("typedef {};", signature(callback, &format!("(*{})", callback.name))), &mut text);
    }
    text.push('\n');
    for function in &header.functions {
        fill(&format!("{};", signature(function, &function.name)), &mut text);
    }
    text
}

fn add_enum(listed: &Enum, text: &mut String) {
    let is_named = listed.values.iter().all(|value| value.name != listed.name);
    let name = if is_named { format!("{} ", listed.name) } else { String::new() };
    let _ = writeln!(text, "\nenum {name}{{");
    for (at, item) in listed.values.iter().enumerate() {
        let comma = if at + 1 < listed.values.len() { "," } else { "" };
        // LuaJIT reads -2147483648 as 2147483648.
        let value = match integer(&item.value) {
            value if value == i64::from(i32::MIN) => format!("{} - 1", value + 1),
            value => value.to_string(),
        };
        let _ = writeln!(text, "    {} = {value}{comma}", item.name);
    }
    text.push_str("};\n");
}

/// Returns the value of an enumerator. Panics if the value is not a sum of numbers and `INT32_MIN`.
pub fn integer(value: &str) -> i64 {
    let term = |term: &str| match term.trim() {
        "INT32_MIN" => i64::from(i32::MIN),
        number => number.parse().unwrap_or_else(|_| panic!("netlib.h: what is the value \"{value}\"?")),
    };
    value.split(" + ").map(term).sum()
}

/// Breaks a declaration of more than 118 columns after commas, and aligns the continuation lines with the first
/// parameter.
pub fn fill(declaration: &str, out: &mut String) {
    const WIDTH: usize = 118;
    let (name, params) = match declaration.split_once(")(") {
        Some((name, params)) => (format!("{name})("), params),
        None => declaration.split_once('(').map(|(name, params)| (format!("{name}("), params)).expect("a function"),
    };
    let indent = " ".repeat(name.len());
    let mut line = name;
    for (at, param) in params.split(", ").enumerate() {
        let last = param.ends_with(';');
        if at > 0 && line.len() + 1 + param.len() + usize::from(!last) > WIDTH {
            let _ = writeln!(out, "{line}");
            line = indent.clone();
        } else if at > 0 {
            line.push(' ');
        }
        line.push_str(param);
        line.push_str(if last { "" } else { "," });
    }
    let _ = writeln!(out, "{line}");
}

pub fn signature(function: &Function, name: &str) -> String {
    let params: Vec<String> = function.params.iter().map(declare).collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    let space = if function.returns.ends_with('*') { "" } else { " " };
    format!("{}{space}{name}({params})", spaced(&function.returns))
}

pub fn declare(param: &Param) -> String {
    let space = if param.ctype.ends_with('*') { "" } else { " " };
    format!("{}{space}{}", spaced(&param.ctype), param.name)
}

/// Writes a type as netlib.h does: `const char *const *` for `const char*const*`.
fn spaced(ctype: &str) -> String {
    match ctype.split_once('*') {
        Some((pointed, stars)) => format!("{pointed} *{}", stars.replace("const*", "const *")),
        None => ctype.to_owned(),
    }
}
