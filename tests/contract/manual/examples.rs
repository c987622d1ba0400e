//! Finds examples for the pages of functions in the tested programs of examples-c.

use std::path::Path;

/// A function of a tested program.
pub struct Example {
    /// The path of the file.
    pub file: String,
    pub code: String,
}

/// The maximum number of lines of an example.
const LONGEST: usize = 30;

/// Returns the short functions of the programs in examples-c.
pub fn load(root: &Path) -> Vec<Example> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("examples-c")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("examples-c").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "c") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    let mut examples = Vec::new();
    for path in files {
        let file = path.strip_prefix(root).expect("it is below the root").display().to_string();
        let text = std::fs::read_to_string(&path).expect("a source file");
        let functions = functions(&text).into_iter().filter(|code| code.lines().count() <= LONGEST);
        examples.extend(functions.map(|code| Example { file: file.clone(), code }));
    }
    examples
}

/// Returns the definitions of functions in a C file, with their comments.
fn functions(text: &str) -> Vec<String> {
    let mut functions = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_start = lines.is_empty() || lines.iter().all(|line| line.starts_with(['/', ' ']));
        if is_start && (line.is_empty() || line.starts_with('#')) {
            lines.clear();
            continue;
        }
        lines.push(line);
        if line == "}" {
            functions.push(lines.join("\n"));
        }
        if line.starts_with('}') || line.ends_with(';') && !line.starts_with(' ') {
            lines.clear();
        }
    }
    functions
}

/// Returns the shortest example that calls a function.
pub fn of<'a>(examples: &'a [Example], function: &str) -> Option<&'a Example> {
    let call = format!("{function}(");
    let calls = |code: &str| code.match_indices(&call).any(|(at, _)| !code[..at].ends_with(is_word));
    let callers = examples.iter().filter(|example| calls(&example.code));
    callers.min_by_key(|example| example.code.lines().count())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
