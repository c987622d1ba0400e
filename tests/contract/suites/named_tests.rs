//! Finds the tests that a data file can name, with their source text, so that a suite can check that each named test
//! exists and runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, name};
use crate::suites;

/// Maps the names of tests to source text. A name is `test_NAME.c` for a C test in any folder of c-tests,
/// `FOLDER/NAME.c` for another C program, the path of a Rust file with tests, or the name of a suite. `FILE:FUNCTION`
/// names one function of a file.
pub struct NamedTests(BTreeMap<String, String>);

impl NamedTests {
    pub fn of(env: &Env) -> NamedTests {
        let mut tests = BTreeMap::new();
        for file in files_below(&env.root.join("c-tests"), "c") {
            let folder = file.parent().map_or("", name);
            let is_program = name(&file).starts_with("test_") && folder != "tsan";
            let key = if is_program { name(&file).to_owned() } else { format!("{folder}/{}", name(&file)) };
            tests.insert(key, fs::read_to_string(&file).unwrap_or_default());
        }
        for folder in ["src", "tests"] {
            for file in files_below(&env.root.join(folder), "rs") {
                let text = fs::read_to_string(&file).unwrap_or_default();
                if folder == "tests" || text.contains("#[test]") {
                    let path = file.strip_prefix(&env.root).unwrap_or(&file);
                    tests.insert(path.to_string_lossy().into_owned(), text);
                }
            }
        }
        // A suite has no single source text, so `mentions` returns true for a suite and any name.
        tests.extend(suites::ALL.iter().map(|suite| (suite.name.to_owned(), String::new())));
        NamedTests(tests)
    }

    /// Returns the source text of a test, if the test exists and runs.
    pub fn text(&self, test: &str) -> Option<&str> {
        match test.split_once(':') {
            Some((file, function)) => body_of_test(file, self.0.get(file)?, function),
            None => self.0.get(test).map(String::as_str),
        }
    }

    /// Returns a problem for each test that a table cell names but that does not exist or does not run.
    pub fn missing(&self, tests: &str) -> Vec<String> {
        let missing = tests.split(' ').filter(|test| self.text(test).is_none());
        missing.map(|test| format!("no test {test} runs")).collect()
    }

    pub fn mentions(&self, test: &str, name: &str) -> bool {
        match self.text(test) {
            Some("") => true,
            Some(text) => text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name),
            None => false,
        }
    }
}

/// Returns the files with this extension in a folder and its subfolders, sorted.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the source text of a test function, if the function runs. A function in a C file or in a suite runs if it is
/// called or named in a row of a table; a function in another Rust file runs if it is marked with #[test].
pub fn body_of_test<'a>(file: &str, text: &'a str, function: &str) -> Option<&'a str> {
    let in_c = file.ends_with(".c");
    let definition = if in_c { format!("static void {function}(") } else { format!("fn {function}(") };
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.trim_start().starts_with(&definition))?;
    let runs = match in_c || file.starts_with("tests/") {
        true => {
            let call = format!("{function}(");
            // Returns the words after the quoted name in a row of a C table, for example function names.
            let words = |row: &'a str| row.split('"').skip(2).step_by(2).flat_map(|rest| rest.split([' ', ',', '}']));
            let is_in_row = |row: &'a str| row.starts_with("{\"") && words(row).any(|word| word == function);
            lines
                .iter()
                .filter(|line| line.starts_with(' '))
                .map(|line| line.trim_start())
                .any(|line| line.starts_with(&call) || in_c && is_in_row(line))
        }
        // Other attributes may be between #[test] and the function.
        false => lines[..start]
            .iter()
            .rev()
            .map(|line| line.trim())
            .take_while(|line| line.starts_with("#["))
            .any(|line| line == "#[test]"),
    };
    let indent = lines[start].len() - lines[start].trim_start().len();
    let brace = format!("{}}}", " ".repeat(indent));
    let end = start + lines[start..].iter().position(|line| *line == brace)?;
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    runs.then(|| text.get(offset(lines[start])..offset(lines[end]) + brace.len()))?
}
