//! Checks that the sources of the examples leave sockets and HTTP to netlib: an example neither sends nor receives on a
//! descriptor itself, and neither formats nor parses HTTP messages.

use crate::report::Report;

/// The functions that send to and receive from a socket.
const CALLS: &[&str] =
    &["read", "readv", "recv", "recvfrom", "recvmsg", "send", "sendmsg", "sendto", "write", "writev"];

/// Texts of HTTP messages, in the form that they have in the string literals of a C source.
const TEXTS: &[&str] = &["HTTP/1.", "\\r\\n"];

/// The calls and texts that a file may contain: the file's path in examples-c, the function or the text, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("epoll/options.c", "\\r\\n", "the lines of a list of URLs may end with CRLF"),
    ("fetch/options.c", "\\r\\n", "the line of a password file may end with CRLF"),
];

/// Checks files of the examples: their paths in examples-c, and their contents. Every exception must apply to a file.
pub fn check(files: &[(String, String)], report: &mut Report) {
    let found: Vec<(&str, &str)> = (files.iter())
        .flat_map(|(path, source)| forbidden(source).into_iter().map(move |what| (path.as_str(), what)))
        .collect();
    let is_excepted =
        |path: &str, what: &str| EXCEPTIONS.iter().any(|(file, text, _)| *file == path && *text == what);
    for (path, what) in &found {
        report.check(
            is_excepted(path, what),
            format!("examples-c/{path} has {what:?}, for which netlib has functions"),
        );
    }
    for (path, what, _) in EXCEPTIONS {
        report
            .check(found.contains(&(path, what)), format!("examples-c/{path} has no {what:?}: delete the exception"));
    }
}

/// Returns the functions of [`CALLS`] that a C source calls, and the texts of [`TEXTS`] that its string literals
/// contain.
fn forbidden(source: &str) -> Vec<&'static str> {
    let (code, literals) = split(source);
    let calls = CALLS.iter().filter(|name| calls(&code, name));
    let texts = TEXTS.iter().filter(|text| literals.iter().any(|literal| literal.contains(**text)));
    calls.chain(texts).copied().collect()
}

/// Returns true if the code calls the function `name`.
fn calls(code: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (code[..at].trim_end(), code[at + name.len()..].trim_start());
        let is_whole = !code[..at].ends_with(is_word) && after.starts_with('(');
        is_whole && !before.ends_with('.') && !before.ends_with("->")
    })
}

/// Returns the code of a C source without comments and without the contents of literals, and its string literals as
/// they are written.
fn split(source: &str) -> (String, Vec<String>) {
    let (mut code, mut literals) = (String::new(), Vec::new());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' {
            let len = literal_len(rest, first);
            if first == '"' {
                literals.push(rest[..len].to_owned());
            }
            len
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    (code, literals)
}

/// Returns the length of the literal with this quote at the start of `text`.
fn literal_len(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}
