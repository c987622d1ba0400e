//! Checks that the whole body of every exported function runs inside one panic guard. Most exported functions call a
//! function of `src/ffi` that contains the guard; the suite also checks those functions of `src/ffi`.

use std::fs;

use crate::env::Env;
use crate::report::Report;
use crate::suites::unsafe_code::rust_files;

/// The panic guards, and the functions of `src/ffi` that run their argument inside a panic guard.
const GUARDS: &[&str] = &[
    "guard::status",
    "guard::value",
    "guard::nothing",
    "nonblocking::status",
    "nonblocking::value",
    "nonblocking::nothing",
];
const GUARDED: &[(&str, &str, &str)] = &[
    // Functions that contain a panic guard: the name in calls, the file of the definition, and the name in that file.
    ("read", "strings.rs", "read"),
    ("read_bool", "strings.rs", "read_bool"),
    ("lend", "strings.rs", "lend"),
    ("lend_text", "strings.rs", "lend_text"),
    ("lend_terminated", "strings.rs", "lend_terminated"),
    ("lend_bytes", "strings.rs", "lend_bytes"),
    ("lend_list", "strings.rs", "lend_list"),
    ("lend_numbers", "strings.rs", "lend_numbers"),
    ("LIST.lend", "strings.rs", "lend"),
    ("handle::clone", "handle.rs", "clone"),
    ("change", "options.rs", "change"),
    ("options::set", "options.rs", "set"),
    ("ffi_options::set", "options.rs", "set"),
    ("builder::set", "options.rs", "set"),
    ("options::add", "options.rs", "add"),
    ("builder::add", "options.rs", "add"),
    ("options::clone", "options.rs", "clone"),
    ("builder::clone", "options.rs", "clone"),
    ("options::check", "options.rs", "check"),
    ("builder::check", "options.rs", "check"),
    ("options::set_callback", "options.rs", "set_callback"),
    ("builder::set_callback", "options.rs", "set_callback"),
];

pub fn run(env: &Env, report: &mut Report) {
    for (_, file, name) in GUARDED {
        let text = env.read(&format!("src/ffi/{file}"));
        let guarded = definitions(&text, &format!("unsafe fn {name}"))
            .chain(definitions(&text, &format!("fn {name}")))
            .any(|(_, body)| body.contains("guard::") || calls(body).any(|call| is_guarded(&call)));
        report.check(guarded, format!("src/ffi/{file}: {name} runs in a guard"));
    }
    let mut count = 0;
    for file in rust_files(&env.root.join("src/ffi/api")) {
        let name = file.strip_prefix(&env.root).unwrap_or(&file).to_string_lossy().into_owned();
        count += check(&name, &fs::read_to_string(&file).unwrap_or_default(), report);
    }
    let exported = env.header().functions.len();
    report
        .check(count >= exported, format!("{count} exported functions were checked, but the header has {exported}"));
}

/// Checks the exported functions in a source text, and returns their number.
pub fn check(file: &str, text: &str, report: &mut Report) -> usize {
    let mut count = 0;
    for (name, body) in definitions(text, "extern \"C\" fn netlib_") {
        count += 1;
        let problem = outside(body).map(|what| format!("outside the guard: {what}"));
        report.problems(format!("{file}: netlib_{name} runs in one panic guard"), problem.into_iter().collect());
    }
    count
}

/// Returns each function whose definition starts with `beginning`: the rest of its name, and its body.
fn definitions<'a>(text: &'a str, beginning: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(beginning).filter_map(move |(at, found)| {
        let rest = &text[at + found.len()..];
        let name = &rest[..rest.find(['(', '<'])?];
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if !name.chars().all(word) {
            return None;
        }
        // The first brace opens the body: no signature in these files contains a brace.
        let (open, semicolon) = (rest.find('{')?, rest.find(';').unwrap_or(usize::MAX));
        let body = inside(&rest[open..])?;
        (open < semicolon).then_some((name, body))
    })
}

/// Returns the part of a body that is neither the guarded call nor a constant before that call.
fn outside(body: &str) -> Option<String> {
    let code: String = body.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let mut rest = code.trim();
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("const fn ") {
            rest.find('{').and_then(|open| Some(open + inside(&rest[open..])?.len() + 2))
        } else if rest.starts_with("const ") || rest.starts_with("static ") || rest.starts_with("use ") {
            end_of_item(rest)
        } else {
            break;
        };
        rest = &rest[end?..];
    }
    let first_line = || Some(rest.lines().next().unwrap_or("nothing is called").to_owned());
    let Some(open) = rest.find('(') else { return first_line() };
    if !is_guarded(&rest[..open]) {
        return first_line();
    }
    let Some(arguments) = inside(&rest[open..]) else { return first_line() };
    let after = rest[open + arguments.len() + 2..].trim().trim_end_matches(';').trim();
    if after.is_empty() { None } else { Some(after.lines().next().unwrap_or(after).to_owned()) }
}

fn is_guarded(call: &str) -> bool {
    let call = call.split("::<").next().unwrap_or(call);
    GUARDS.contains(&call) || GUARDED.iter().any(|(name, ..)| *name == call)
}

/// Returns the names of the functions that a body calls: the names before opening parentheses.
fn calls(body: &str) -> impl Iterator<Item = String> {
    body.match_indices('(').map(|(at, _)| {
        let before = &body[..at];
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "_:.".contains(c))).map_or(0, |i| i + 1);
        before[start..].to_owned()
    })
}

/// Returns the text between the bracket that `text` starts with and its closing bracket.
fn inside(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    let mut quoted = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '"' if before != '\\' && !(before == '\'' && text[at + 1..].starts_with('\'')) => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.checked_sub(1)?,
            _ => {}
        }
        before = c;
        if depth == 0 {
            return text.get(1..at);
        }
    }
    None
}

/// Returns the end of a Rust constant: the first semicolon outside brackets.
fn end_of_item(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}
