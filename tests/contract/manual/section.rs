//! Makes the pages of the sections of netlib.h, and the page of its first page.

use super::function::{param_text, summary};
use super::text::{Block, blocks};
use super::{Page, Part, first_sentence, page_of_section, roff};
use crate::cdef;
use crate::model::{Enum, Function, Header, Item, Param, Section, Struct};

/// The first words of the paragraphs of netlib.h that describe the file itself.
const ABOUT_THE_FILE: [&str; 2] = ["Each section begins", "This file is generated"];

/// Makes the page netlib(7).
pub fn overview(header: &Header, text: &str) -> Page {
    let comment = text.split("*/").next().unwrap_or("").trim_start_matches("/*");
    let lines: Vec<&str> = comment.lines().skip(1).map(|line| line.strip_prefix(" *").unwrap_or(line)).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let (title, body) = lines.split_first().expect("the first page has a title");
    let mut parts = vec![Part::new("DESCRIPTION", Vec::new())];
    for block in blocks(&body.join("\n")) {
        if matches!(&block, Block::Paragraph(text) if ABOUT_THE_FILE.iter().any(|start| text.starts_with(start))) {
            continue;
        }
        if let Block::Paragraph(text) = &block
            && let Some((title, rest)) = heading(text)
        {
            parts.push(Part::new(title, vec![Block::Paragraph(rest.to_owned())]));
            continue;
        }
        parts.last_mut().expect("it starts with one").blocks.push(block);
    }
    let sections = header.sections.iter();
    let terms =
        sections.map(|section| Block::Term(format!("{}(7)", page_of_section(&section.name)), section.title.clone()));
    parts.push(Part::new("SECTIONS", terms.collect()));
    Page {
        name: "netlib".to_owned(),
        volume: "7",
        summary: title.split_once(" - ").map_or(*title, |(_, summary)| summary).to_owned(),
        synopsis: String::new(),
        parts,
        see_also: header.sections.iter().map(|section| page_of_section(&section.name)).collect(),
        types: Vec::new(),
    }
}

/// Splits a paragraph that begins with a heading in capitals: "NULL. A pointer", or "A REQUEST uses", where the heading
/// belongs to the sentence.
fn heading(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_uppercase() || c == ' '))?;
    if let Some(rest) = text[end..].strip_prefix(". ").filter(|_| end > 2) {
        return Some((&text[..end], rest));
    }
    let title = text[..end].trim_end();
    (title.contains(' ') && title.len() > 4).then_some((title, text))
}

/// Makes the page of a section.
pub fn page(header: &Header, section: &Section) -> Page {
    let title = section.title.trim_end_matches('.');
    let mut parts = vec![Part::new(
        "DESCRIPTION",
        vec![Block::Paragraph(format!(
            "This page lists the functions and describes the types of the section \"{}\" of netlib.h. The page netlib(7) \
             states the conventions for all functions.",
            section.name
        ))],
    )];
    let mut chapter = "";
    parts.push(Part::new("FUNCTIONS", Vec::new()));
    for function in header.functions.iter().filter(|function| function.place.section == section.name) {
        if function.place.chapter != chapter {
            chapter = &function.place.chapter;
            parts.push(Part::subsection(chapter.trim_end_matches('.'), Vec::new()));
        }
        let term = Block::Term(function.name.clone(), first_sentence(&function.doc.summary).to_owned());
        parts.last_mut().expect("it starts with one").blocks.push(term);
    }
    parts.push(Part::new("TYPES", Vec::new()));
    parts.extend(section.types.iter().map(|name| of_type(header, name)));
    Page {
        name: page_of_section(&section.name),
        volume: "7",
        summary: summary(title),
        synopsis: String::new(),
        parts,
        see_also: vec!["netlib".to_owned()],
        types: section.types.iter().filter(|name| name.starts_with("netlib_")).cloned().collect(),
    }
}

/// Describes a type or constant.
fn of_type(header: &Header, name: &str) -> Part {
    if let Some(item) = header.handles.iter().find(|item| item.name == name) {
        return Part::subsection(&format!("struct {name}"), blocks(&item.doc.text));
    }
    if let Some(item) = header.enums.iter().find(|item| item.name == name) {
        return of_enum(item);
    }
    if let Some(item) = header.callbacks.iter().find(|item| item.name == name) {
        return of_callback(header, item);
    }
    if let Some(item) = header.structs.iter().find(|item| item.name == name) {
        return of_struct(item);
    }
    let item = header.typedefs.iter().find(|item| item.name == name);
    let (kind, item) = match item {
        Some(item) => (format!("typedef {} {name};", item.value), item),
        None => {
            let item = header.macros.iter().find(|item| item.name == name).expect("the model knows every name");
            (format!("#define {name} {}", item.value), item)
        }
    };
    of_code(name, &kind, item)
}

fn of_code(name: &str, code: &str, item: &Item) -> Part {
    let mut text = vec![Block::Code(code.to_owned())];
    text.extend(blocks(&item.doc.text));
    Part::subsection(name, text)
}

fn of_enum(listed: &Enum) -> Part {
    let is_named = listed.values.iter().all(|value| value.name != listed.name);
    if !is_named {
        let value = &listed.values[0];
        return of_code(&value.name, &format!("{} = {}", value.name, value.value), value);
    }
    let mut text = blocks(&listed.doc.text);
    let term = |item: &Item| Block::Term(format!("`{}` = {}", item.name, item.value), item.doc.summary.clone());
    text.extend(listed.values.iter().map(term));
    Part::subsection(&format!("enum {}", listed.name), text)
}

fn of_struct(item: &Struct) -> Part {
    let fields: String = item.fields.iter().map(|field| format!("    {};\n", cdef::declare(field))).collect();
    let mut text = vec![Block::Code(format!("typedef struct {0} {{\n{fields}}} {0};", item.name))];
    text.extend(blocks(&item.doc.text));
    Part::subsection(&format!("struct {}", item.name), text)
}

fn of_callback(header: &Header, callback: &Function) -> Part {
    let signature = cdef::signature(callback, &format!("(*{})", callback.name));
    let mut text = vec![Block::Code(roff::declaration(&format!("typedef {signature};")))];
    text.extend(blocks(&callback.doc.text));
    let term = |param: &Param| Block::Term(format!("`{}`", param.name), param_text(header, callback, param));
    text.extend(callback.params.iter().map(term));
    text.extend(callback.doc.returns.iter().map(|text| Block::Term("returns".to_owned(), text.clone())));
    text.extend(callback.doc.threads.iter().map(|text| Block::Term("threads".to_owned(), text.clone())));
    text.extend(callback.doc.called_by.iter().map(|text| Block::Term("called by".to_owned(), text.clone())));
    Part::subsection(&callback.name, text)
}
