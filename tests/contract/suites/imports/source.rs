//! Reads the modules of a crate from its sources: their `use` declarations and the paths in their code.

use std::collections::{BTreeMap, BTreeSet};

/// The modules by path: `["crate", "tls", "x509"]`. Modules that only tests declare are left out.
#[derive(Default)]
pub struct Crate {
    pub modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Default)]
pub struct Module {
    pub file: String,
    pub uses: Vec<Use>,
    /// The paths of two or more names in the code, outside of `use` declarations.
    pub paths: Vec<Vec<String>>,
    /// The names in the code, outside of `use` declarations and paths.
    pub names: BTreeSet<String>,
}

pub struct Use {
    pub name: String,
    pub path: Vec<String>,
    pub is_public: bool,
}

type ReadFile<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Crate {
    /// Reads all modules of the crate by following `mod` declarations, starting at `src/lib.rs`.
    pub fn read(read_file: ReadFile) -> Crate {
        let mut source = Crate::default();
        let text = read_file("src/lib.rs").expect("src/lib.rs");
        source.add("src/lib.rs", vec!["crate".to_owned()], &text, read_file);
        source
    }

    fn add(&mut self, file: &str, path: Vec<String>, text: &str, read_file: ReadFile) {
        let tokens = tokens(text);
        let mut modules = vec![(path, 0)];
        let mut depth = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at).map(String::as_str) {
            let path = modules.last().expect("the file's module").0.clone();
            let module = self.modules.entry(path.clone()).or_default();
            module.file = file.to_owned();
            let name = tokens.get(at + 1).map_or("", String::as_str);
            let after = tokens.get(at + 2).map_or("", String::as_str);
            let before = if at == 0 { "" } else { &tokens[at - 1] };
            match (token, after) {
                ("#", _) => {
                    let end = end_of_group(&tokens, at + 1);
                    at = if is_test_only(&tokens[at..end]) { end_of_item(&tokens, end) } else { end };
                    continue;
                }
                ("use", _) => {
                    let end = at + tokens[at..].iter().position(|token| token == ";").unwrap_or(0);
                    add_uses(&tokens[at + 1..end], &[], ["pub", ")"].contains(&before), &mut module.uses);
                    at = end;
                }
                ("mod", ";") => {
                    let child: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
                    let folder = format!("src/{}", child[1..].join("/"));
                    let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
                    for (file, text) in files.iter().filter_map(|file| Some((file, read_file(file)?))) {
                        self.add(file, child.clone(), &text, read_file);
                    }
                    at += 2;
                }
                ("mod", "{") => {
                    modules.push((path.iter().cloned().chain([name.to_owned()]).collect(), depth));
                    depth += 1;
                    at += 2;
                }
                ("{", _) => depth += 1,
                ("}", _) => {
                    depth -= 1;
                    if modules.len() > 1 && modules.last().is_some_and(|(_, opened)| *opened == depth) {
                        modules.pop();
                    }
                }
                _ if is_name(token) && before != "::" && before != "." => {
                    let names = 1 + tokens[at + 1..].chunks(2).take_while(|pair| is_segment(pair)).count();
                    match names {
                        1 => _ = module.names.insert(token.to_owned()),
                        _ => module.paths.push(tokens[at..].iter().step_by(2).take(names).cloned().collect()),
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the file that defines the item to which a path in a module refers. Returns `None` if the path refers to
    /// a module, or to an item of another crate.
    pub fn definition(&self, module: &[String], path: &[String]) -> Option<&str> {
        match self.resolve(module, path, MAX_REEXPORTS)? {
            Target::Item(file) => Some(file),
            Target::Module(_) => None,
        }
    }

    fn resolve(&self, from: &[String], path: &[String], reexports: usize) -> Option<Target<'_>> {
        let mut module = from.to_vec();
        let mut rest = path;
        let mut is_known = false;
        while let Some((name, next)) = rest.split_first().filter(|(name, _)| is_relative(name)) {
            match name.as_str() {
                "crate" => module.truncate(1),
                "super" => _ = module.pop(),
                _ => {}
            }
            (rest, is_known) = (next, true);
        }
        while let Some((name, next)) = rest.split_first() {
            let here = self.modules.get(&module)?;
            let import = here.uses.iter().find(|import| import.name == *name && import.path != [name.as_str()]);
            module.push(name.clone());
            if !self.modules.contains_key(&module) {
                module.pop();
                match (import, reexports) {
                    (Some(import), 1..) => match self.resolve(&module, &import.path, reexports - 1)? {
                        Target::Module(found) => module = found,
                        item => return Some(item),
                    },
                    _ => return is_known.then_some(Target::Item(&here.file)),
                }
            }
            (rest, is_known) = (next, true);
        }
        Some(Target::Module(module))
    }
}

enum Target<'a> {
    Module(Vec<String>),
    /// An item, represented by the file that defines it.
    Item(&'a str),
}

/// The maximum number of re-exports that are followed from an import to the definition of its item.
const MAX_REEXPORTS: usize = 8;

fn is_relative(name: &str) -> bool {
    ["crate", "super", "self"].contains(&name)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_segment(pair: &[String]) -> bool {
    pair.len() == 2 && pair[0] == "::" && is_name(&pair[1])
}

/// Adds the names that the tree of a `use` declaration imports, for example `a::{b, c::d as e}`.
fn add_uses(tree: &[String], prefix: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tree.get(at) {
        match token.as_str() {
            "{" => {
                let end = end_of_group(tree, at);
                return split(&tree[at + 1..end - 1]).for_each(|part| add_uses(part, &path, is_public, uses));
            }
            "as" => name = tree.get(at + 1).cloned(),
            "self" if !path.is_empty() => {}
            token if name.is_none() && (is_name(token) || token == "*") => path.push(token.to_owned()),
            _ => {}
        }
        at += 1;
    }
    if let Some(last) = path.last().cloned() {
        uses.push(Use { name: name.unwrap_or(last), path, is_public });
    }
}

/// Splits the content of a `use` tree at the commas outside inner braces.
fn split(list: &[String]) -> impl Iterator<Item = &[String]> {
    let mut depth = 0;
    list.split(move |token| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        token == "," && depth == 0
    })
}

/// Returns true for `#[cfg(test)]` and `#[cfg(all(test, ...))]`.
fn is_test_only(attribute: &[String]) -> bool {
    let text = attribute.concat();
    text.starts_with("#[cfg(test)") || text.starts_with("#[cfg(all(test,")
}

/// Finds the first opening bracket from `at` on, and returns the index after the matching closing bracket.
fn end_of_group(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// Returns the index after the item or statement that begins at `at`: after its semicolon or its closing brace.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            ";" => return at + 1,
            "{" => return end_of_group(tokens, at),
            "(" | "[" => at = end_of_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Splits a text into names, `::` and single characters. Comments, literals and lifetimes are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let after = &rest[word.len()..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if ["r", "br", "cr"].contains(&word) && after.trim_start_matches('#').starts_with('"') {
            let marks = &after[..after.find('"').unwrap_or(0)];
            let open = word.len() + marks.len() + 1;
            rest[open..].find(&format!("\"{marks}")).map_or(rest.len(), |end| open + end + 1 + marks.len())
        } else if !word.is_empty() {
            tokens.push(word.to_owned());
            word.len()
        } else if c == '"' {
            quoted(rest, '"')
        } else if c == '\'' {
            let is_literal = rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'');
            if is_literal {
                quoted(rest, '\'')
            } else {
                1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1)
            }
        } else {
            let token = if rest.starts_with("::") { "::" } else { &rest[..c.len_utf8()] };
            if !c.is_whitespace() {
                tokens.push(token.to_owned());
            }
            token.len()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the literal that `text` begins with.
fn quoted(text: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == mark && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}
