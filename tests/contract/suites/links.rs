//! Every relative link of a document leads to a file, and every document that another file names exists.

use std::fs;
use std::path::Path;

use crate::env::Env;
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let listed = env.command("git").args(["ls-files"]).run(60);
    if !listed.ok {
        return report.skip("the files are listed by git, and this is no checkout");
    }
    // Recorded answers and fuzz inputs contain anything.
    let is_data =
        |file: &str| ["fuzz/seeds/", "tests/vectors/", "CHANGELOG.md"].iter().any(|at| file.starts_with(at));
    for file in listed.out.lines().filter(|file| !is_data(file)) {
        if let Ok(text) = fs::read_to_string(env.root.join(file)) {
            check(env, file, &text, report);
        }
    }
}

pub fn check(env: &Env, file: &str, text: &str, report: &mut Report) {
    let mut problems = Vec::new();
    if file.ends_with(".md") {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let dead = links(text).filter(|link| !env.root.join(folder).join(link).exists());
        problems.extend(dead.map(|link| format!("the link {link} leads nowhere")));
    }
    let dead = documents(text).filter(|path| !env.root.join(path).is_file());
    problems.extend(dead.map(|path| format!("there is no {path}")));
    report.problems(file, problems);
}

/// The targets of the links of a page that lie in the repository, without their anchors.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let files = targets.map(|target| target.split('#').next().unwrap_or(""));
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:"))
}

/// Paths of documents, such as docs/README.md.
fn documents(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)));
    // A full stop may follow.
    words.map(|word| word.trim_end_matches('.')).filter(|word| word.starts_with("docs/") && word.ends_with(".md"))
}
