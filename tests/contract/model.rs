//! Parses netlib.h into data: every public item with its documentation. The parser understands only the regular form of
//! C that cbindgen and the template write, and panics on any other line, so that the checks miss no public item.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Header {
    pub functions: Vec<Function>,
    pub callbacks: Vec<Function>,
    pub handles: Vec<Item>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
    pub typedefs: Vec<Item>,
    pub macros: Vec<Item>,
    pub sections: Vec<Section>,
}

/// A section of the header.
pub struct Section {
    /// The name, such as "url".
    pub name: String,
    pub title: String,
    /// The names of the types and constants that the section declares, in the order of their declarations.
    pub types: Vec<String>,
}

/// A named item of the header with its documentation comment, which may be empty.
#[derive(Clone, Debug)]
pub struct Item {
    pub name: String,
    /// The replacement text of a macro, the value of an enumerator, or the type of a typedef; empty for other items.
    pub value: String,
    pub doc: Doc,
}

/// An enum. An enum without a name has one enumerator, whose name is also the name of the [`Enum`].
pub struct Enum {
    pub name: String,
    pub doc: Doc,
    pub values: Vec<Item>,
}

/// A struct whose fields the header declares.
pub struct Struct {
    pub name: String,
    pub doc: Doc,
    pub fields: Vec<Param>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub returns: String,
    pub params: Vec<Param>,
    pub doc: Doc,
    /// The text of the attribute NETLIB_DEPRECATED_NOTE.
    pub deprecated: Option<String>,
    pub must_use: bool,
    pub place: Place,
}

/// A place in the header.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The name of the section, such as "url".
    pub section: String,
    /// The title of the chapter; empty before the first chapter of a section.
    pub chapter: String,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    /// The type, spelled with single spaces and no space before or between stars: `const char*const*`.
    pub ctype: String,
}

/// A documentation comment, split at its tags. The lines of each tag are joined into one line.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub summary: String,
    /// The documented parameters in the order of the comment; a name may occur twice, which the suite `docs` reports.
    pub params: Vec<(String, String)>,
    pub returns: Option<String>,
    pub threads: Option<String>,
    pub since: Option<String>,
    /// The text of `@blocks`: what a function waits for, and what ends the wait.
    pub blocks: Option<String>,
    /// The text of `@called-by`: the functions that invoke a callback.
    pub called_by: Option<String>,
    /// The lines before the first tag, with the indentation of lists and code.
    pub text: String,
    pub whole: String,
}

impl Header {
    pub fn parse(text: &str) -> Header {
        let mut header = Header::default();
        let mut doc = String::new();
        let mut place = Place::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let mut item = line.trim().to_owned();
            if item.is_empty() || item.starts_with("#") && !item.starts_with("#define ") {
                // Preprocessor conditions may be between a documentation comment and its macro.
                continue;
            }
            if item.starts_with("/*") {
                while !item.contains("*/") {
                    item.push('\n');
                    item.push_str(lines.next().expect("a comment ends").trim());
                }
                if item.starts_with("/* ====") {
                    let title = item.lines().nth(1).unwrap_or("").trim_start_matches("* ");
                    let (section, title) = title.split_once(": ").unwrap_or((title, ""));
                    let [name, title] = [section.to_owned(), title.to_owned()];
                    header.sections.push(Section { name, title, types: Vec::new() });
                    place = Place { section: section.to_owned(), chapter: String::new() };
                } else if let Some(title) = item.strip_prefix("/* ---- ") {
                    place.chapter = title.trim_end_matches(" ---- */").to_owned();
                }
                doc = if item.starts_with("/**") { item } else { String::new() };
                continue;
            }
            if item.starts_with("#define ") {
                while let Some(start) = item.strip_suffix('\\') {
                    item = format!("{start}{}", lines.next().expect("a macro ends").trim());
                }
                let rest = &item["#define ".len()..];
                let name: String = rest.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
                let value = rest[name.len()..].trim().to_owned();
                if name != "NETLIB_H" && header.macros.iter().all(|known| known.name != name) {
                    header.add_to_section(&name);
                    header.macros.push(Item { name, value, doc: Doc::parse(&doc) });
                }
                // The documentation is kept, because an `#else` branch may define the macro again under the same
                // comment.
                continue;
            }
            if item == "extern \"C\" {" || item == "}" {
                continue;
            }
            if item.starts_with("_Static_assert(") {
                while !item.ends_with(");") {
                    item = lines.next().expect("an assertion ends").trim().to_owned();
                }
                continue;
            }
            if let Some(constant) =
                item.strip_prefix("enum NETLIB_INT32 { ").and_then(|rest| rest.strip_suffix(" };"))
            {
                let (name, value) = constant.split_once(" = ").expect("an enumerator has a value");
                let (name, value) = (name.to_owned(), value.to_owned());
                let doc = Doc::parse(&std::mem::take(&mut doc));
                let item = Item { name: name.clone(), value, doc: doc.clone() };
                header.add_to_section(&name);
                header.enums.push(Enum { name, doc, values: vec![item] });
                continue;
            }
            let is_enum = item.starts_with("enum ") && item.ends_with('{');
            let mut enum_values = Vec::new();
            if is_enum {
                let mut value_doc = String::new();
                for line in lines.by_ref() {
                    let line = line.trim();
                    if line == "};" {
                        break;
                    } else if line.is_empty() {
                    } else if line.starts_with("/**") || !value_doc.is_empty() && !value_doc.contains("*/") {
                        value_doc.push_str(line);
                        value_doc.push('\n');
                    } else if let Some((name, value)) = line.trim_end_matches(',').split_once(" = ") {
                        let (name, value) = (name.to_owned(), value.to_owned());
                        enum_values.push(Item { name, value, doc: Doc::parse(&value_doc) });
                        value_doc.clear();
                    } else {
                        panic!("netlib.h: what is \"{line}\" in an enum?");
                    }
                }
            } else if item.starts_with("typedef struct ") && item.ends_with('{') {
                let fields = lines.by_ref().map(str::trim).take_while(|line| !line.starts_with('}'));
                let declarations = fields.filter_map(|line| line.strip_suffix(';'));
                let fields = declarations.map(parse_param).collect();
                let name = item.trim_start_matches("typedef struct ").trim_end_matches(" {").to_owned();
                let doc = Doc::parse(&std::mem::take(&mut doc));
                header.add_to_section(&name);
                header.structs.push(Struct { name, doc, fields });
                continue;
            } else {
                while !item.ends_with(';') {
                    item.push(' ');
                    item.push_str(lines.next().unwrap_or_else(|| panic!("netlib.h: no end to \"{item}\"")).trim());
                }
            }
            let doc = Doc::parse(&std::mem::take(&mut doc));
            header.add(item.trim_end_matches(';'), &place, doc, enum_values);
        }
        header
    }

    fn add(&mut self, item: &str, place: &Place, doc: Doc, values: Vec<Item>) {
        if let Some(name) = item.strip_prefix("enum ").filter(|rest| rest.ends_with('{')) {
            let name = name.split(' ').next().unwrap_or("").to_owned();
            self.add_to_section(&name);
            self.enums.push(Enum { name, doc, values });
        } else if let Some(name) = item.strip_prefix("struct ") {
            self.add_to_section(name);
            self.handles.push(Item { name: name.to_owned(), value: String::new(), doc });
        } else if item.starts_with("typedef struct ") {
            // A typedef at the top of the header; the documented declaration follows in the handle's section.
        } else if let Some(rest) = item.strip_prefix("typedef ") {
            match rest.split_once("(*") {
                Some((returns, rest)) => {
                    let (name, params) = rest.split_once(")(").expect("a callback's parameters");
                    self.add_to_section(name);
                    self.callbacks.push(Function {
                        name: name.to_owned(),
                        returns: ctype(returns),
                        params: parse_params(params.trim_end_matches(')')),
                        doc,
                        deprecated: None,
                        must_use: false,
                        place: place.clone(),
                    });
                }
                None => {
                    let Param { name, ctype } = parse_param(rest);
                    self.add_to_section(&name);
                    self.typedefs.push(Item { name, value: ctype, doc });
                }
            }
        } else {
            self.functions.push(parse_function(item, place, doc));
        }
    }

    /// Adds a type or constant to the current section. The names before the first section belong to none.
    fn add_to_section(&mut self, name: &str) {
        if let Some(section) = self.sections.last_mut() {
            section.types.push(name.to_owned());
        }
    }

    /// Returns all constants: enumerators and macros.
    pub fn constants(&self) -> impl Iterator<Item = &Item> {
        self.enums.iter().flat_map(|e| &e.values).chain(&self.macros)
    }

    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Returns true if the header declares a function, constant or type of this name.
    pub fn declares(&self, name: &str) -> bool {
        self.function(name).is_some()
            || self.constants().any(|item| item.name == name)
            || self.handles.iter().chain(&self.typedefs).any(|item| item.name == name)
            || self.structs.iter().any(|item| item.name == name)
            || self.callbacks.iter().any(|callback| callback.name == name)
            || self.enums.iter().any(|e| e.name == name)
    }

    pub fn is_pointer(&self, param: &Param) -> bool {
        param.ctype.contains('*') || self.callbacks.iter().any(|callback| callback.name == param.ctype)
    }
}

impl Function {
    pub fn returns_status(&self) -> bool {
        self.returns == "netlib_status" && self.params.last().is_some_and(|last| last.ctype == "netlib_error**")
    }
}

impl Doc {
    fn parse(comment: &str) -> Doc {
        let inner = comment.trim().trim_start_matches("/**").trim_end_matches("*/");
        let mut doc = Doc::default();
        let (mut text, mut whole) = (Vec::new(), Vec::new());
        let mut tags: Vec<(String, String)> = vec![(String::new(), String::new())];
        for line in inner.lines().map(str::trim) {
            let indented = line.strip_prefix("* ").unwrap_or(line.trim_start_matches('*'));
            let line = line.trim_start_matches('*').trim();
            whole.push(line.to_owned());
            if tags.len() == 1 && !line.starts_with('@') {
                text.push(indented);
            }
            match line.strip_prefix('@') {
                Some(tagged) => {
                    let (tag, text) = tagged.split_once(' ').unwrap_or((tagged, ""));
                    tags.push((tag.to_owned(), text.to_owned()));
                }
                None => {
                    let text = &mut tags.last_mut().expect("it starts with one").1;
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(line);
                }
            }
        }
        doc.whole = whole.join("\n").trim().to_owned();
        doc.text = text.join("\n").trim().to_owned();
        for (tag, text) in tags {
            let text = text.trim().to_owned();
            match tag.as_str() {
                "" => doc.summary = text,
                "param" => {
                    let (name, text) = text.split_once(' ').unwrap_or((&text, ""));
                    doc.params.push((name.to_owned(), text.to_owned()));
                }
                "return" => doc.returns = Some(text),
                "threads" => doc.threads = Some(text),
                "since" => doc.since = Some(text),
                "blocks" => doc.blocks = Some(text),
                "called-by" => doc.called_by = Some(text),
                other => doc.params.push((format!("@{other}"), text)),
            }
        }
        doc
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(param, _)| param == name).map(|(_, text)| text.as_str())
    }

    /// Returns the names of parameters that are documented more than once.
    pub fn repeated_params(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in &self.params {
            *counts.entry(name).or_default() += 1;
        }
        counts.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name).collect()
    }
}

fn parse_function(item: &str, place: &Place, doc: Doc) -> Function {
    let mut rest = item.trim();
    let (mut deprecated, mut must_use) = (None, false);
    loop {
        if let Some(after) = rest.strip_prefix("NETLIB_MUST_USE") {
            rest = after.trim_start();
            must_use = true;
        } else if let Some(after) = rest.strip_prefix("NETLIB_DEPRECATED_NOTE(\"") {
            let (note, after) = after.split_once("\")").expect("a quoted note");
            rest = after.trim_start();
            deprecated = Some(note.to_owned());
        } else {
            break;
        }
    }
    let (head, params) = rest.split_once('(').unwrap_or_else(|| panic!("netlib.h: what is \"{item}\"?"));
    let params = params.trim_end().strip_suffix(')').unwrap_or_else(|| panic!("netlib.h: what is \"{item}\"?"));
    let Param { name, ctype } = parse_param(head);
    assert!(name.starts_with("netlib_") || name.starts_with("__"), "netlib.h: what is \"{item}\"?");
    Function { name, returns: ctype, params: parse_params(params), doc, deprecated, must_use, place: place.clone() }
}

fn parse_params(text: &str) -> Vec<Param> {
    match text.trim() {
        "void" | "" => Vec::new(),
        text => text.split(',').map(parse_param).collect(),
    }
}

fn parse_param(text: &str) -> Param {
    let text = text.trim();
    let start = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    Param { name: text[start..].to_owned(), ctype: ctype(&text[..start]) }
}

fn ctype(text: &str) -> String {
    let mut spelled = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [(" *", "*"), ("* ", "*"), ("*const*", "*const*")] {
        spelled = spelled.replace(from, to);
    }
    spelled
}
