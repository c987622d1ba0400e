//! Checks the man pages: their parts, their references and, with mandoc, their syntax. Checks that scripts/man writes
//! them, and that the table of contents of the site is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::env::{Env, has};
use crate::manual::{self, File, site};
use crate::report::Report;

/// The sections of each page of a function, in their order.
const PARTS: [&str; 6] = [
    ".SH NAME\n",
    ".SH SYNOPSIS\n",
    ".SH \"DESCRIPTION\"\n",
    ".SH \"RETURN VALUE\"\n",
    ".SH \"THREADS\"\n",
    ".SH SEE ALSO\n",
];

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("man");
    let pages: BTreeMap<String, File> = manual::files(&env.root, "2000-01-01").into_iter().collect();
    let header = env.header();
    let overviews = header.sections.iter().map(|section| manual::page_of_section(&section.name));
    let overviews = overviews.chain(["netlib".to_owned()]).map(|name| format!("man7/{name}.7"));
    for page in header.functions.iter().map(|function| format!("man3/{}.3", function.name)).chain(overviews) {
        report.check(matches!(pages.get(&page), Some(File::Text(_))), format!("{page} is a page"));
    }
    for (path, file) in &pages {
        match file {
            File::Text(text) => report.problems(path, problems(&pages, path, text)),
            File::Link(target) => {
                let page = target.trim_start_matches("../").trim_end_matches(".gz");
                report.check(pages.contains_key(page), format!("{path} is a link to a page: {target}"));
            }
        }
    }
    lint(env, &pages, &scratch, report);
    site_contents(env, report);

    let written = env.command("scripts/man").env("CARGO_TARGET_DIR", &scratch).run(300);
    report.check(written.ok, format!("scripts/man\n{}", written.text));
    for page in ["man3/netlib_parse_url.3.gz", "man3/netlib_url.3.gz", "man7/netlib.7.gz"] {
        let start = fs::read(scratch.join("man").join(page)).unwrap_or_default();
        report.check(start.starts_with(&[0x1f, 0x8b]), format!("scripts/man writes {page}, compressed"));
    }
}

/// Checks that the table of contents of the site names every page, and no other.
fn site_contents(env: &Env, report: &mut Report) {
    let files = site::files(&env.root);
    let listed: BTreeSet<&str> =
        files["SUMMARY.md"].split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let pages = files.keys().map(String::as_str).filter(|file| file.ends_with(".md") && *file != "SUMMARY.md");
    let pages: BTreeSet<&str> = pages.collect();
    for (what, names) in [("leaves out", &pages - &listed), ("names a missing", &listed - &pages)] {
        report.check(names.is_empty(), format!("the table of contents of the site {what} page: {names:?}"));
    }
}

/// Returns the missing or misplaced parts of a page, and its references to pages that do not exist.
pub fn problems(pages: &BTreeMap<String, File>, path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut from = 0;
    for part in PARTS.iter().filter(|_| path.starts_with("man3/")) {
        match text[from..].find(part) {
            Some(at) => from += at,
            None => problems.push(format!("no {} at its place", part.trim_end())),
        }
    }
    for (at, _) in text.match_indices("\\fR(") {
        let name = text[..at].rsplit("\\fB").next().unwrap_or("").replace("\\-", "-");
        let volume = text[at + "\\fR(".len()..].split(')').next().unwrap_or("");
        let is_page = pages.contains_key(&format!("man{volume}/{name}.{volume}"));
        if ["3", "7"].contains(&volume) && !is_page {
            problems.push(format!("it refers to {name}({volume}), which is no page"));
        }
    }
    problems
}

/// Checks the syntax of the pages with mandoc.
pub fn lint(env: &Env, pages: &BTreeMap<String, File>, scratch: &Path, report: &mut Report) {
    if !has("mandoc") {
        return report.skip("mandoc is not installed");
    }
    let mut mandoc = env.command("mandoc");
    mandoc.args(["-T", "lint", "-W", "warning"]);
    for (path, file) in pages {
        if let File::Text(text) = file {
            let page = scratch.join(path.replace('/', "-"));
            fs::write(&page, text).expect("target is writable");
            mandoc.arg(page);
        }
    }
    let ran = mandoc.run(300);
    let complaints: Vec<String> = ran.text.lines().take(20).map(str::to_owned).collect();
    report.problems("mandoc", complaints);
    report.check(ran.ok, "mandoc succeeds");
}
