//! Writes pages of the manual in Markdown, for the site.

use std::fmt::Write as _;

use super::text::{Block, Span, spans};
use super::{Page, Part};
use crate::model::Header;

pub fn write(header: &Header, page: &Page) -> String {
    let mut out = format!("# {}\n\n", page.name);
    if page.volume == "7" {
        let _ = writeln!(out, "{}\n", capitalised(&escape(&page.summary)));
    }
    if !page.synopsis.is_empty() {
        let _ = writeln!(out, "```c\n{}\n```\n", page.synopsis);
    }
    for part in &page.parts {
        // The description of a function follows its declaration without a title.
        let is_first = part.title == "DESCRIPTION";
        write_part(header, part, is_first, &mut out);
    }
    let references: Vec<String> = page.see_also.iter().map(|name| format!("[{}]({name}.md)", escape(name))).collect();
    let _ = writeln!(out, "## See also\n\n{}", references.join(", "));
    out
}

fn write_part(header: &Header, part: &Part, is_first: bool, out: &mut String) {
    if !is_first {
        let level = if part.is_subsection { "###" } else { "##" };
        let _ = writeln!(out, "{level} {}\n", escape(&title(&part.title)));
    }
    for (at, block) in part.blocks.iter().enumerate() {
        match block {
            Block::Paragraph(text) => {
                let _ = writeln!(out, "{}\n", inline(header, text));
            }
            Block::Item(text) => {
                let _ = writeln!(out, "- {}", inline(header, text));
            }
            Block::Term(term, text) => {
                let _ = writeln!(out, "- **{}**: {}", inline(header, term), inline(header, text));
            }
            Block::Code(code) => {
                let language = if code.contains(';') { "c" } else { "text" };
                let _ = writeln!(out, "```{language}\n{code}\n```\n");
            }
        }
        let is_list = |block: &Block| matches!(block, Block::Item(_) | Block::Term(..));
        if is_list(block) && !part.blocks.get(at + 1).is_some_and(is_list) {
            out.push('\n');
        }
    }
}

/// Writes a title in capitals, as in "RETURN VALUE", in small letters.
fn title(text: &str) -> String {
    let is_loud = text.chars().all(|c| c.is_ascii_uppercase() || c == ' ') && text != "NULL";
    if is_loud { capitalised(&text.to_lowercase()) } else { text.to_owned() }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

fn inline(header: &Header, text: &str) -> String {
    let span = |span: Span| match span {
        Span::Plain(text) => escape(text),
        Span::Code(text) => format!("`{text}`"),
        Span::Strong(text) => format!("**{}**", escape(text)),
        Span::Function(name) => format!("[`{name}`]({name}.md)"),
    };
    spans(header, text).into_iter().map(span).collect()
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\*_<>[]|#".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
