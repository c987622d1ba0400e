//! Checks that every relative link in a document leads to a file, that every picture has a text for readers who do not
//! see it, and that every project path that a file mentions exists.

use std::fs;
use std::path::Path;

use crate::env::{Env, name};
use crate::report::Report;
use crate::suites::install::all_files;

/// The folders and extensions of the paths that are checked.
const FOLDERS: &[&str] = &["docs/", "src/", "tests/", "c-tests/", "examples-c/", "scripts/", "include/", "fuzz/"];
const EXTENSIONS: &[&str] = &[".md", ".rs", ".c", ".h", ".in", ".py", ".sh", ".tsv", ".toml"];

/// Folders that are not checked: recorded results of other libraries, fuzz inputs and certificates contain arbitrary
/// text, and the contract tests contain invented paths.
const EXCEPTIONS: &[&str] = &["fuzz/seeds/", "fuzz/Cargo", "tests/vectors/", "tests/certs/", "tests/contract/"];

pub fn run(env: &Env, report: &mut Report) {
    let listed = env.command("git").args(["ls-files"]).run(60);
    if !listed.ok {
        return report.skip("git lists the files, and this is not a checkout");
    }
    for file in listed.out.lines().filter(|file| !EXCEPTIONS.iter().any(|start| file.starts_with(start))) {
        if let Ok(text) = fs::read_to_string(env.root.join(file)) {
            check(env, file, &text, report);
        }
    }
}

pub fn check(env: &Env, file: &str, text: &str, report: &mut Report) {
    let mut problems = if file.ends_with(".md") { dead_links(&env.root.join(file), text) } else { Vec::new() };
    let unknown = paths(text).filter(|path| {
        // In benches and fuzz, a path may be relative to the folder of the package.
        let top = file.split('/').next().unwrap_or("");
        !env.root.join(path).exists() && !env.root.join(top).join(path).exists()
    });
    problems.extend(unknown.map(|path| format!("there is no {path}")));
    if file.ends_with(".md") && text.contains("![](") {
        problems.push("a picture has no alternative text".to_owned());
    }
    report.problems(file, problems);
}

/// Checks the links of the documents that scripts/install has installed in the directory `tree`.
pub fn check_installed(tree: &Path, report: &mut Report) {
    let files = all_files(tree);
    let documents: Vec<_> = files.iter().filter(|file| name(file).ends_with(".md")).collect();
    report.check(!documents.is_empty(), format!("{} contains documents", tree.display()));
    for document in documents {
        let text = fs::read_to_string(document).expect("documents are text");
        let file = document.strip_prefix(tree).unwrap_or(document);
        report.problems(format!("the installed {}", file.display()), dead_links(document, &text));
    }
}

/// Returns a problem for each relative link of a document that leads to no file.
fn dead_links(document: &Path, text: &str) -> Vec<String> {
    let folder = document.parent().unwrap_or(Path::new(""));
    let dead = links(text).into_iter().filter(|link| !folder.join(link).exists());
    dead.map(|link| format!("the link {link} leads nowhere")).collect()
}

/// Returns the targets of a page's links to files in the repository, without anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let files = targets.map(|target| target.split('#').next().unwrap_or(""));
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:")).collect()
}

/// Returns the words of a text that are project paths. In a mentioned path, NAME stands for any file name.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)));
    words.map(|word| word.trim_end_matches('.')).filter(|word| {
        FOLDERS.iter().any(|folder| word.starts_with(folder))
            && EXTENSIONS.iter().any(|extension| word.ends_with(extension))
            && !word.contains("NAME")
    })
}
