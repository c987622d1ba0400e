//! Writes pages of the manual in the language of man(7).

use std::fmt::Write as _;

use super::text::{Block, Span, spans};
use super::{Page, Part};
use crate::model::Header;

/// The maximum width of a line of the source.
const WIDTH: usize = 78;
/// The maximum width of a declaration, which man(1) indents by seven blanks.
const DECLARATION_WIDTH: usize = 72;

pub fn write(header: &Header, page: &Page, date: &str) -> String {
    let title = page.name.to_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!(
        ".\\\" Generated from netlib.h. SPDX-License-Identifier: MIT OR Apache-2.0\n\
         .TH {title} {} {date} \"netlib {version}\" \"netlib manual\"\n\
         .nh\n.ad l\n\
         .SH NAME\n{} \\- {}\n",
        page.volume,
        escape(&page.name),
        escape(&page.summary)
    );
    if !page.synopsis.is_empty() {
        let _ = write!(out, ".SH SYNOPSIS\n.nf\n{}.fi\n", synopsis(&page.synopsis));
    }
    for part in &page.parts {
        write_part(header, part, &mut out);
    }
    let references: Vec<String> = page.see_also.iter().map(|name| reference(header, name)).collect();
    let _ = writeln!(out, ".SH SEE ALSO\n{}", references.join(",\n"));
    out
}

fn write_part(header: &Header, part: &Part, out: &mut String) {
    let request = if part.is_subsection { ".SS" } else { ".SH" };
    let _ = writeln!(out, "{request} \"{}\"", escape(&part.title).replace('"', "\\(dq"));
    for (at, block) in part.blocks.iter().enumerate() {
        match block {
            Block::Paragraph(text) => {
                out.push_str(if at == 0 { "" } else { ".PP\n" });
                fill(&inline(header, text), out);
            }
            Block::Item(text) => {
                out.push_str(".IP \\(bu 2\n");
                fill(&inline(header, text), out);
            }
            Block::Term(term, text) => {
                let _ = writeln!(out, ".TP\n{}", guard(&inline(header, term)));
                fill(&inline(header, text), out);
            }
            Block::Code(code) => {
                let _ = write!(out, "{}.RS 4\n.EX\n", if at == 0 { "" } else { ".PP\n" });
                code.lines().for_each(|line| {
                    let _ = writeln!(out, "{}", guard(&escape(line)));
                });
                // groff turns hyphenation on again after an example.
                out.push_str(".EE\n.nh\n.RE\n");
            }
        }
    }
}

/// Returns the name of a page in bold, with its section of the manual.
fn reference(header: &Header, name: &str) -> String {
    let volume = if header.function(name).is_some() { 3 } else { 7 };
    format!("\\fB{}\\fR({volume})", escape(name))
}

fn inline(header: &Header, text: &str) -> String {
    let span = |span: Span| match span {
        Span::Plain(text) => escape(text),
        Span::Code(text) | Span::Strong(text) => format!("\\fB{}\\fR", escape(text)),
        Span::Function(name) => reference(header, name),
    };
    spans(header, text).into_iter().map(span).collect()
}

/// Writes the declarations in bold, and the names of parameters in italics.
fn synopsis(declarations: &str) -> String {
    let mut out = String::new();
    for line in declarations.lines() {
        if line.is_empty() {
            out.push_str(".sp\n");
            continue;
        }
        let mut rest = line;
        let mut styled = String::new();
        while let Some(end) = rest.find([',', ')']) {
            let name = rest[..end].rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
            let is_param = name < end && &rest[name..end] != "void";
            if is_param {
                let _ = write!(styled, "{}\\fI{}\\fB", escape(&rest[..name]), escape(&rest[name..end]));
            } else {
                styled.push_str(&escape(&rest[..end]));
            }
            styled.push_str(&rest[end..=end]);
            rest = &rest[end + 1..];
        }
        let _ = writeln!(out, "\\fB{styled}{}\\fR", escape(rest));
    }
    out
}

/// Breaks a declaration of more than 72 columns after commas, and aligns the continuation lines with the first
/// parameter, or indents them by four blanks if they are too long for that.
pub fn declaration(signature: &str) -> String {
    if signature.len() <= DECLARATION_WIDTH {
        return signature.to_owned();
    }
    let open = signature.find(")(").map_or_else(|| signature.find('('), |at| Some(at + 1)).expect("a function");
    let (start, params) = signature.split_at(open + 1);
    let longest = params.split(", ").map(str::len).max().unwrap_or(0);
    let (indent, mut out) = match start.len() + longest < DECLARATION_WIDTH {
        true => (start.len(), start.to_owned()),
        false => (4, format!("{start}\n    ")),
    };
    let mut column = indent;
    for (at, param) in params.split(", ").enumerate() {
        if at > 0 && column + param.len() + 2 > DECLARATION_WIDTH {
            let _ = write!(out, ",\n{}", " ".repeat(indent));
            column = indent;
        } else if at > 0 {
            out.push_str(", ");
            column += 2;
        }
        out.push_str(param);
        column += param.len();
    }
    out
}

/// Writes a text in lines of at most 78 columns, unless a word is longer.
fn fill(text: &str, out: &mut String) {
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(out, "{}", guard(&line));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{}", guard(&line));
}

/// Keeps a line that begins with a dot or an apostrophe from being read as a request.
fn guard(line: &str) -> String {
    let is_request = line.starts_with(['.', '\'']);
    if is_request { format!("\\&{line}") } else { line.to_owned() }
}

/// Writes the characters that roff would interpret or replace as escape sequences.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            c if c.is_ascii() => out.push(c),
            c => {
                let _ = write!(out, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    out
}
