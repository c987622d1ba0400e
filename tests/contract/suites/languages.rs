//! Builds the bindings in `bindings/`, runs the scenario in each language, and compares its output with
//! bindings/scenario.tsv. Writes the results as a table, which must be the one in docs/reference/bindings-results.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Table;
use crate::env::{Env, Ran, name};
use crate::report::Report;
use crate::suites::c_tests;
use crate::suites::fetch::server::Server;

/// The page with the table. `make bindings` copies the written table to it.
const PAGE: &str = "docs/reference/bindings-results.md";

/// The exit code of a script whose tools are missing.
const SKIPPED: Option<i32> = Some(77);

/// A step of the scenario: its name and the line that a binding prints.
pub struct Step {
    name: String,
    expected: String,
}

/// What a language printed for a step.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Passed,
    NotApplicable(String),
    Failed,
}

type Outcomes = BTreeMap<String, Vec<Outcome>>;

pub fn run(env: &Env, report: &mut Report) {
    let server = match Server::start(env, &env.scratch("languages")) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    let steps = parse_steps(&env.read("bindings/scenario.tsv"));
    let mut outcomes = Outcomes::new();
    for folder in folders(env) {
        let language = name(&folder).to_owned();
        if let Some(results) = run_language(env, &folder, &server, &steps, report) {
            outcomes.insert(language, results);
        }
    }
    check_features(env, &Table::load(env, "features"), report);
    let table = table(&steps, &outcomes);
    let written = env.target.join("bindings/results.md");
    fs::create_dir_all(env.target.join("bindings")).expect("target is writable");
    fs::write(&written, &table).expect("target is writable");
    if outcomes.len() == folders(env).len() {
        let same = fs::read_to_string(env.root.join(PAGE)).is_ok_and(|page| page == table);
        report.check(same, format!("{PAGE} has the results of this run; `make bindings` writes the page"));
    }
}

/// Checks that each language answers each feature, and that a yes names a test of the language.
pub fn check_features(env: &Env, table: &Table, report: &mut Report) {
    let languages: Vec<String> = folders(env).iter().map(|folder| name(folder).to_owned()).collect();
    for rows in table.rows.chunks(languages.len()) {
        let answered: Vec<String> = rows.iter().map(|row| row[1].clone()).collect();
        report.check(answered == languages, format!("{}: {answered:?}, not {languages:?}", rows[0][0]));
    }
    for row in &table.rows {
        let [feature, language, answer, text] = row.as_slice() else { unreachable!("the table has four columns") };
        let problem = match &answer[..] {
            "yes" => !contains(&env.root.join("bindings").join(language), text),
            "no" | "n/a" => false,
            _ => true,
        };
        report.check(!problem, format!("{feature}: {language}: {answer}: no test has the text {text:?}"));
    }
}

/// Returns whether a file in the folder or in a subfolder contains the text.
fn contains(path: &Path, text: &str) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| contains(&entry.path(), text)),
        Err(_) => fs::read_to_string(path).is_ok_and(|content| content.contains(text)),
    }
}

/// Returns the folders of the languages.
pub fn folders(env: &Env) -> Vec<PathBuf> {
    let entries = fs::read_dir(env.root.join("bindings")).expect("bindings");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|folder| folder.join("scenario").is_file());
    folders.sort();
    folders
}

pub fn parse_steps(table: &str) -> Vec<Step> {
    let rows = table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|row| Step { name: row[0].to_owned(), expected: row[1].to_owned() }).collect()
}

/// Builds and checks one binding. Returns None if the tools of the language are missing.
fn run_language(
    env: &Env,
    folder: &Path,
    server: &Server,
    steps: &[Step],
    report: &mut Report,
) -> Option<Vec<Outcome>> {
    let language = name(folder);
    let built = script(env, folder, "build", &[]);
    if built.code == SKIPPED {
        // A machine that checks all changes must have every language.
        let skipped = format!("{language}: {}", built.text.trim());
        if std::env::var_os("CI").is_some() {
            report.fail(skipped)
        } else {
            report.skip(skipped)
        }
        return None;
    }
    if !report.check(built.ok, format!("{language}: bindings/{language}/build succeeds\n{}", built.text)) {
        return None;
    }
    let (dir, certificates) = (server.fill_in("{server}"), env.root.join("tests/certs").display().to_string());
    let ran = script(env, folder, "scenario", &[&dir, &certificates, language]);
    report.check(ran.ok, format!("{language}: the scenario ends with success\n{}", ran.text));
    let allowed = fs::read_to_string(folder.join("not-applicable")).unwrap_or_default();
    let outcomes =
        compare(language, steps, &ran.out, &allowed, |text| server.fill_in(&text.replace("{tag}", language)), report);
    let checked = script(env, folder, "check", &[]);
    c_tests::take_counts(&format!("bindings/{language}/check"), &checked, report);
    Some(outcomes)
}

fn script(env: &Env, folder: &Path, script: &str, arguments: &[&str]) -> Ran {
    let mut command = env.command(folder.join(script));
    command.args(arguments).env("NETLIB_DIR", env.release_library()).run(900)
}

/// Compares the lines that a scenario printed with the expected ones. `allowed` names the steps that may be "not
/// applicable", one on each line.
pub fn compare(
    language: &str,
    steps: &[Step],
    printed: &str,
    allowed: &str,
    fill_in: impl Fn(&str) -> String,
    report: &mut Report,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for step in steps {
        let (expected, start) = (fill_in(&step.expected), format!("{}\t", step.name));
        let lines: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix(&start)).collect();
        let may_be_left_out = allowed.lines().any(|line| line == step.name);
        let outcome = match &lines[..] {
            [line] if *line == expected => Outcome::Passed,
            [line] if may_be_left_out && line.starts_with("not applicable: ") => {
                Outcome::NotApplicable(line["not applicable: ".len()..].to_owned())
            }
            _ => Outcome::Failed,
        };
        let what = format!("{language}: {}: expected {expected:?}, printed {lines:?}", step.name);
        report.check(outcome != Outcome::Failed, what);
        outcomes.push(outcome);
    }
    outcomes
}

/// Returns the table of languages and steps. The reasons for steps that do not apply follow the table.
fn table(steps: &[Step], outcomes: &Outcomes) -> String {
    let mut page = "# Results of the bindings\n\n\
         The table lists, for each language, the steps of [the scenario](../../bindings/scenario.md) that the binding\n\
         passes. `make bindings` runs the scenario and writes this page.\n\n| step |"
        .to_owned();
    for language in outcomes.keys() {
        let _ = write!(page, " {language} |");
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(outcomes.len()));
    page.push('\n');
    let mut reasons: Vec<&str> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let _ = write!(page, "| {} |", step.name);
        for results in outcomes.values() {
            match &results[at] {
                Outcome::Passed => page.push_str(" passed |"),
                Outcome::Failed => page.push_str(" **failed** |"),
                Outcome::NotApplicable(reason) => {
                    let known = reasons.iter().position(|known| known == reason);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                    let _ = write!(page, " not applicable ({}) |", number + 1);
                }
            }
        }
        page.push('\n');
    }
    if !reasons.is_empty() {
        page.push_str("\nReasons:\n\n");
    }
    for (at, reason) in reasons.iter().enumerate() {
        let _ = writeln!(page, "{}. {reason}", at + 1);
    }
    page
}
