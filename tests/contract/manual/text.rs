//! Splits the text of documentation comments into paragraphs, lists and code, and paragraphs into words.

use crate::model::Header;

#[derive(Debug, PartialEq)]
pub enum Block {
    Paragraph(String),
    /// An item of a list.
    Item(String),
    /// A term and its explanation.
    Term(String, String),
    Code(String),
}

/// Splits a text at empty lines, and at lines that begin a list item. A group of lines that are indented by four blanks
/// a list, a table of terms with two blanks after each term, or code.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut continues = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continues = false;
        } else if line.starts_with("    ") {
            let mut group = vec![line];
            while let Some(next) = lines.next_if(|next| next.starts_with("    ") || next.trim().is_empty()) {
                group.push(next);
            }
            let group: Vec<&str> = group.iter().map(|line| line.get(4..).unwrap_or("")).collect();
            indented(&group, &mut blocks);
            continues = false;
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(item.to_owned()));
            continues = true;
        } else {
            match blocks.last_mut() {
                Some(Block::Paragraph(text) | Block::Item(text)) if continues => {
                    text.push(' ');
                    text.push_str(line.trim());
                }
                _ => blocks.push(Block::Paragraph(line.trim().to_owned())),
            }
            continues = true;
        }
    }
    blocks
}

fn indented(lines: &[&str], blocks: &mut Vec<Block>) {
    let is_list = lines[0].starts_with("- ");
    let starts = lines.iter().filter(|line| !line.starts_with(' ') && !line.is_empty());
    let is_table =
        !is_list && starts.clone().all(|line| line.split("  ").filter(|cell| !cell.is_empty()).count() == 2);
    if !is_list && !is_table {
        blocks.push(Block::Code(lines.join("\n").trim_end().to_owned()));
        return;
    }
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let starts = !line.starts_with(' ');
        match blocks.last_mut() {
            _ if starts && is_list => blocks.push(Block::Item(line.trim_start_matches("- ").to_owned())),
            _ if starts => {
                let (term, text) = line.split_once("  ").unwrap_or((line, ""));
                blocks.push(Block::Term(term.to_owned(), text.trim().to_owned()));
            }
            Some(Block::Item(text) | Block::Term(_, text)) => {
                text.push(' ');
                text.push_str(line.trim());
            }
            _ => {}
        }
    }
}

/// A piece of a paragraph.
#[derive(Debug, PartialEq)]
pub enum Span<'a> {
    Plain(&'a str),
    /// Text in backticks.
    Code(&'a str),
    Strong(&'a str),
    /// The name of a function of netlib.h.
    Function(&'a str),
}

/// Splits a paragraph at backticks, at double stars and around the names of functions.
pub fn spans<'a>(header: &Header, text: &'a str) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    for (at, quoted) in text.split('`').enumerate() {
        if at % 2 == 1 {
            let is_function = header.function(quoted).is_some();
            spans.push(if is_function { Span::Function(quoted) } else { Span::Code(quoted) });
            continue;
        }
        for (at, part) in quoted.split("**").enumerate() {
            if at % 2 == 1 {
                spans.push(Span::Strong(part));
            } else {
                plain(header, part, &mut spans);
            }
        }
    }
    spans
}

fn plain<'a>(header: &Header, text: &'a str, spans: &mut Vec<Span<'a>>) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find("netlib_").map(|found| at + found) {
        let end = text[found..].find(|c| !is_word(c)).map_or(text.len(), |end| found + end);
        let is_start = !text[..found].ends_with(is_word);
        let is_call = text[end..].starts_with('(');
        // The name of a call stays as it is: `netlib_x(NULL)`.
        if is_start && !is_call && header.function(&text[found..end]).is_some() {
            spans.push(Span::Plain(&text[start..found]));
            spans.push(Span::Function(&text[found..end]));
            start = end;
        }
        at = end;
    }
    spans.push(Span::Plain(&text[start..]));
}
