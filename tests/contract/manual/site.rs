//! Writes the sources of the site for mdBook: the documents of the repository at their own paths, the pages of the
//! manual in the folder `api`, and the example programs in the folder `examples`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{examples, markdown, page_of_section, pages};
use crate::model::Header;

/// The documents outside `docs`.
const AT_THE_ROOT: [&str; 4] = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Returns the files of the site's sources with their paths.
pub fn files(root: &Path) -> BTreeMap<String, String> {
    let read =
        |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let text = read("include/netlib.h");
    let header = Header::parse(&text);
    let mut files = BTreeMap::new();
    let documents = AT_THE_ROOT.iter().map(|file| (*file).to_owned());
    for file in documents.chain(below(root, "docs", "md")).chain(below(root, "bindings", "md")) {
        let document = read(&file);
        for linked in linked_files(root, &file, &document) {
            files.insert(linked.clone(), read(&linked));
        }
        let depth = file.matches('/').count();
        let page = with_links(&header, &document, &"../".repeat(depth));
        // mdBook names the page of README.md index.html, but does not change the links to it.
        files.insert(file.replace("README.md", "index.md"), page);
    }
    for page in pages(&header, &text, &examples::load(root)) {
        files.insert(format!("api/{}.md", page.name), markdown::write(&header, &page));
    }
    let programs: Vec<String> =
        below(root, "examples-c", "c").into_iter().chain(below(root, "examples-cpp", "cpp")).collect();
    for program in &programs {
        let page = format!("# {program}\n\n```cpp\n{}```\n", read(program));
        files.insert(page_of_program(program), page);
    }
    let contents = contents(&header, &files, &programs);
    files.insert("SUMMARY.md".to_owned(), contents);
    files
}

/// Returns the paths of the files, other than documents and netlib.h, to which a document links.
fn linked_files(root: &Path, file: &str, document: &str) -> Vec<String> {
    let mut found = Vec::new();
    for target in document.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
        let mut path: Vec<&str> = file.split('/').collect();
        path.pop();
        for part in target.split('/') {
            match part {
                ".." => drop(path.pop()),
                part => path.push(part),
            }
        }
        let path = path.join("/");
        if root.join(&path).is_file() && !path.ends_with(".md") && path != "include/netlib.h" {
            found.push(path);
        }
    }
    found
}

/// Returns the paths of the files below a directory, sorted.
fn below(root: &Path, directory: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(root.join(directory)).expect("a directory").flatten().map(|entry| entry.path()) {
        let name = path.strip_prefix(root).expect("it is below the root").display().to_string();
        if path.is_dir() {
            found.extend(below(root, &name, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(name);
        }
    }
    found.sort();
    found
}

fn page_of_program(program: &str) -> String {
    format!("examples/{program}.md")
}

/// Turns the names of functions in backticks into links, except in code, titles and links. Links to netlib.h lead to the
/// page of its first page.
fn with_links(header: &Header, text: &str, to_root: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let is_text = !is_code && !line.starts_with("    ") && !line.starts_with('#');
        if !is_text {
            out.push_str(line);
        }
        for (at, part) in line.split('`').enumerate().filter(|_| is_text) {
            let is_function = at % 2 == 1 && header.function(part).is_some();
            match (at % 2 == 1, is_function && !out.ends_with('[')) {
                (_, true) => {
                    let _ = write!(out, "[`{part}`]({to_root}api/{part}.md)");
                }
                (true, false) => {
                    let _ = write!(out, "`{part}`");
                }
                (false, false) => out
                    .push_str(&part.replace("include/netlib.h)", "api/netlib.md)").replace("README.md", "index.md")),
            }
        }
        out.push('\n');
    }
    out
}

/// Returns the table of contents: the lists of docs/README.md, the pages that they leave out, and the manual.
fn contents(header: &Header, files: &BTreeMap<String, String>, programs: &[String]) -> String {
    let mut out = "# netlib\n\n[netlib](index.md)\n".to_owned();
    for line in files["docs/index.md"].lines() {
        if let Some(title) = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")) {
            let _ = writeln!(out, "\n# {title}\n");
        } else if let Some((title, path)) = link(line).filter(|(_, path)| path.ends_with(".md")) {
            let path = format!("docs/{path}");
            let _ = writeln!(out, "- [{title}]({path})");
            if let Some(directory) = path.strip_suffix("index.md") {
                let pages = files.iter().filter(|(file, _)| file.starts_with(directory) && **file != path);
                for (file, text) in pages {
                    let title = text.lines().next().unwrap_or("").trim_start_matches("# ");
                    let _ = writeln!(out, "  - [{}]({file})", title.trim_start_matches("Decisions: "));
                }
            }
        }
    }
    out.push_str("\n# Bindings\n\n- [Bindings](bindings/index.md)\n");
    for (file, text) in files.iter().filter(|(file, _)| file.starts_with("bindings/") && file.ends_with(".md")) {
        let title = text.lines().next().unwrap_or("").trim_start_matches("# ");
        if file != "bindings/index.md" {
            let _ = writeln!(out, "  - [{title}]({file})");
        }
    }
    out.push_str("\n# The project\n\n");
    out.push_str("- [How to contribute](CONTRIBUTING.md)\n- [Reporting vulnerabilities](SECURITY.md)\n- [Changes](CHANGELOG.md)\n- [All documents](docs/index.md)\n");
    out.push_str("\n# Functions\n\n- [The conventions of netlib.h](api/netlib.md)\n");
    for section in &header.sections {
        let _ = writeln!(out, "- [{}](api/{}.md)", section.name, page_of_section(&section.name));
        for function in header.functions.iter().filter(|function| function.place.section == section.name) {
            let _ = writeln!(out, "  - [{0}](api/{0}.md)", function.name);
        }
    }
    out.push_str("\n# Examples\n\n");
    for program in programs {
        let _ = writeln!(out, "- [{program}]({})", page_of_program(program));
    }
    out
}

/// Returns the title and the path of the link with which a list item begins.
fn link(line: &str) -> Option<(&str, &str)> {
    let (title, rest) = line.strip_prefix("- [")?.split_once("](")?;
    Some((title, rest.split_once(')')?.0))
}
