//! Generates the manual from netlib.h. The manual has a page for each function, a page for each section of the header,
//! and a page for the header's first page. [`roff`] writes the pages for man(1), and [`markdown`] for the site.
//!
//! scripts/man and scripts/site compile this module without cargo, so it uses only the standard library.

pub mod examples;
pub mod function;
pub mod markdown;
pub mod roff;
pub mod section;
pub mod site;
pub mod text;

use std::path::Path;

use crate::model::Header;
use examples::Example;
use text::Block;

/// A page of the manual.
pub struct Page {
    pub name: String,
    /// The section of the manual: "3" for functions, "7" for overviews.
    pub volume: &'static str,
    /// The subject of the page, as part of a sentence.
    pub summary: String,
    /// Declarations in C; empty for overviews.
    pub synopsis: String,
    pub parts: Vec<Part>,
    /// The names of the pages in the section SEE ALSO.
    pub see_also: Vec<String>,
    /// The names of the types that the page describes.
    pub types: Vec<String>,
}

/// A part of a page.
pub struct Part {
    pub title: String,
    pub is_subsection: bool,
    pub blocks: Vec<Block>,
}

impl Part {
    pub fn new(title: &str, blocks: Vec<Block>) -> Part {
        Part { title: title.to_owned(), is_subsection: false, blocks }
    }

    pub fn subsection(title: &str, blocks: Vec<Block>) -> Part {
        Part { title: title.to_owned(), is_subsection: true, blocks }
    }
}

/// Returns all pages of the manual. `first_page` is the text of netlib.h.
pub fn pages(header: &Header, first_page: &str, examples: &[Example]) -> Vec<Page> {
    let mut pages = vec![section::overview(header, first_page)];
    pages.extend(header.sections.iter().map(|section| section::page(header, section)));
    pages.extend(header.functions.iter().map(|function| function::page(header, function, examples)));
    pages
}

/// A file of the manual.
pub enum File {
    Text(String),
    /// A link to a page for the name of a type. The path is relative to the directory of the link.
    Link(String),
}

/// Returns the files of the manual with their paths below a directory `man`. `date` is the date of the release. The links
/// lead to compressed pages.
pub fn files(root: &Path, date: &str) -> Vec<(String, File)> {
    let text = std::fs::read_to_string(root.join("include/netlib.h")).expect("include/netlib.h");
    let header = Header::parse(&text);
    let examples = examples::load(root);
    let mut files = Vec::new();
    for page in pages(&header, &text, &examples) {
        let path = |name: &str, volume: &str| format!("man{volume}/{name}.{volume}");
        // A type and a function may have the same name, and the page is then that of the function.
        for name in page.types.iter().filter(|name| header.function(name).is_none()) {
            let target = format!("../{}.gz", path(&page.name, page.volume));
            files.push((path(name, "3") + ".gz", File::Link(target)));
        }
        files.push((path(&page.name, page.volume), File::Text(roff::write(&header, &page, date))));
    }
    files
}

/// Returns the first sentence of a documentation text.
pub fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// Returns the name of the page for a section of netlib.h.
pub fn page_of_section(section: &str) -> String {
    format!("netlib-{section}")
}
