//! Generates netlib.h: cbindgen turns each file of `src/ffi/api` into a section or a chapter, and the template
//! `src/ffi/netlib.h.in` contains the first page.

use std::fmt::Write as _;
use std::path::Path;

use netlib::status::Status;

use crate::cdef::fill;

/// The module that determines the order of the header: its public modules are the sections of the header, and the
/// public modules of a section are its chapters, in the order of their declarations. A section begins with the items of
/// its own file.
const CONTENTS: &str = "src/ffi/api";

fn public_modules(source: &str) -> Vec<String> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    lines.map(str::to_owned).collect()
}

/// Returns the whole text of `include/netlib.h`.
pub fn generate(root: &Path) -> String {
    let template = read(&root.join("src/ffi/netlib.h.in"));
    let mut handles = String::new();
    let mut sections = String::new();
    for name in public_modules(&contents(root)) {
        add_section(root, &name, &mut handles, &mut sections);
    }
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    template
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@MAJOR@", major)
        .replace("@MINOR@", minor)
        .replace("@PATCH@", patch)
        .replace("@HANDLES@", handles.trim_end())
        .replace("@ENUM_SIZES@", &enum_sizes(&sections))
        .replace("@SECTIONS@", &sections)
}

/// Returns the source text of the module [`CONTENTS`].
fn contents(root: &Path) -> String {
    read(&root.join(CONTENTS).with_extension("rs"))
}

fn add_section(root: &Path, name: &str, handles: &mut String, sections: &mut String) {
    let directory = root.join(CONTENTS);
    let file = directory.join(format!("{name}.rs"));
    let source = read(&file);
    let rule = "=".repeat(114);
    let _ = write!(sections, "/* {rule}\n * {name}: {}\n * {rule} */\n\n", title(&source));
    if name == "basics" {
        sections.push_str(&status_codes());
    }
    add_part(root, &file, handles, sections);
    for chapter in public_modules(&source) {
        let file = directory.join(name).join(format!("{chapter}.rs"));
        let _ = write!(sections, "/* ---- {} ---- */\n\n", title(&read(&file)));
        add_part(root, &file, handles, sections);
    }
}

/// Returns the first line of a module's documentation, which is the title of a section or chapter.
fn title(source: &str) -> &str {
    source.lines().next().unwrap_or("").trim_start_matches("//! ")
}

/// The maximum line width of the header.
const WIDEST: usize = 120;

fn add_part(root: &Path, file: &Path, handles: &mut String, sections: &mut String) {
    let source = read(file);
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    // cbindgen leaves out types that no function of the same file uses. The Rust functions take and return numbers
    // instead of enums, and all functions that use a handle or a callback type may be in other files, so the types are
    // listed explicitly.
    config.export.include = names_after(&source, "pub enum ");
    config.export.include.extend(names_after(&source, "pub struct "));
    config.export.include.extend(names_after(&source, "pub type "));
    // The types enum_netlib_x of src/ffi/enums.rs become `enum netlib_x` in C.
    config.export.rename.extend(enum_types(&source).map(|name| (name.to_owned(), name.replacen('_', " ", 1))));
    let mut text = Vec::new();
    cbindgen::Builder::new().with_config(config).with_src(file).generate().expect("cbindgen").write(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");

    for line in filled(&enumerators(&compact(&text))).lines() {
        match line.strip_prefix("typedef struct ").and_then(|rest| rest.strip_suffix(';')) {
            // All typedefs of handles are at the top of the header, so that a section can use the handles of later
            // sections. The documentation of a handle is in the handle's section, on a second declaration of the
            // struct, which C and C++ allow.
            Some(pair) if !pair.contains('{') => {
                let handle = pair.split(' ').next().unwrap_or("");
                let _ = writeln!(handles, "typedef struct {handle} {handle};");
                let _ = writeln!(sections, "struct {handle};");
            }
            _ => {
                sections.push_str(line);
                sections.push('\n');
            }
        }
    }
    sections.push('\n');
}

/// Functions whose failure a caller may ignore, because the connection is closed anyway, or a full handshake takes the
/// place of resumption.
pub const BEST_EFFORT: &[&str] = &[
    "netlib_stream_shutdown",
    "netlib_stream_shutdown_both",
    "netlib_tls_engine_shutdown",
    "netlib_stream_take_session",
    "netlib_tls_engine_take_session",
    "netlib_stream_set_session",
    "netlib_tls_engine_set_session",
];

/// Returns true if the line declares a function that can fail, or one that returns a handle which the caller must free.
/// Returns false for a getter of a status, which cannot fail.
fn is_must_use(line: &str) -> bool {
    let owned = |rest: &str| rest.split_once(" *netlib_").is_some_and(|(handle, _)| !handle.contains([' ', '(']));
    let can_fail = |rest: &str| {
        let name = rest.split('(').next().unwrap_or("");
        !name.ends_with("_status") && !BEST_EFFORT.contains(&name)
    };
    line.strip_prefix("netlib_status ").is_some_and(can_fail) || line.strip_prefix("netlib_").is_some_and(owned)
}

/// Rewrites the output of cbindgen: moves the start and the end of each comment to lines with text, removes the empty
/// line before tags, writes enums as `enum name NETLIB_INT32`, so that C and C++ have the same names for them, and
/// gives structs a tag.
fn compact(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let mut out: Vec<String> = Vec::new();
    let mut enum_start = None;
    let mut struct_start = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() == "/**" && lines.get(at + 2).is_some_and(|end| end.trim() == "*/") {
            out.push(format!("{indent}/** {} */", lines[at + 1].trim().trim_start_matches("* ")));
            at += 3;
            continue;
        }
        if line.trim() == "/**" && lines.get(at + 1).is_some_and(|first| first.trim().starts_with("* ")) {
            out.push(format!("{indent}/** {}", lines[at + 1].trim().trim_start_matches("* ")));
            at += 2;
            continue;
        }
        // Moves the "*/" of a comment to the comment's last line of text, if that line is not code and is short enough.
        if line.trim() == "*/"
            && let Some(last) = out.last_mut()
            && last.len() + " */".len() <= WIDEST
            && !last.trim_start().starts_with("*     ")
        {
            last.push_str(" */");
            at += 1;
            continue;
        }
        let opens_tags = lines.get(at + 1).is_some_and(|next| next.trim().starts_with("* @"));
        if line.trim() == "*" && opens_tags {
            at += 1;
            continue;
        }
        if line == "typedef enum {" {
            enum_start = Some(out.len());
        }
        if line == "typedef struct {" {
            struct_start = Some(out.len());
        }
        if let (Some(start), Some(name)) =
            (struct_start, line.strip_prefix("} ").and_then(|rest| rest.strip_suffix(';')))
        {
            out[start] = format!("typedef struct {name} {{");
            struct_start = None;
        }
        match (enum_start, line.strip_prefix("} ").and_then(|rest| rest.strip_suffix(';'))) {
            (Some(start), Some(name)) => {
                out[start] = format!("enum {name} NETLIB_INT32 {{");
                if let Some(last) = out.last_mut() {
                    *last = last.trim_end_matches(',').to_owned();
                }
                out.push("};".to_owned());
                enum_start = None;
            }
            _ => out.push(line.to_owned()),
        }
        at += 1;
    }
    out.join("\n")
}

/// Writes each function and callback type on as few lines as possible, after its attributes.
fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    let mut attribute = None;
    while let Some(mut line) = lines.next() {
        if line.starts_with("NETLIB_DEPRECATED") {
            let (note, rest) = line.split_once("\")").expect("a quoted note");
            attribute = Some(format!("{note}\")"));
            line = rest.trim_start();
        }
        let is_start =
            line.starts_with("const ") || line.contains('(') && line.starts_with(|c: char| c.is_lowercase());
        if !is_start {
            if attribute.is_none() || !line.is_empty() {
                let _ = writeln!(out, "{line}");
            }
            continue;
        }
        if let Some(attribute) = attribute.take() {
            let _ = writeln!(out, "{attribute}");
        }
        let mut declaration = line.to_owned();
        while !declaration.ends_with(';') {
            let next = lines.next().expect("a declaration ends").trim();
            declaration.push_str(if declaration.ends_with('(') { "" } else { " " });
            declaration.push_str(next);
        }
        if is_must_use(&declaration) {
            // The attribute gets a line of its own if the line would become too long for the first parameter.
            let first = declaration.split(", ").next().unwrap_or("").len();
            match "NETLIB_MUST_USE ".len() + first > WIDEST {
                true => out.push_str("NETLIB_MUST_USE\n"),
                false => declaration.insert_str(0, "NETLIB_MUST_USE "),
            }
        }
        fill(&declaration, &mut out);
    }
    out
}

/// Returns the condition of the static assertion that every enum has four bytes, wrapped at 120 columns.
fn enum_sizes(sections: &str) -> String {
    let mut text = String::new();
    let names = sections.lines().filter_map(|line| line.strip_prefix("enum ")?.strip_suffix(" NETLIB_INT32 {"));
    for name in names {
        let term = format!("sizeof(enum {name}) == 4");
        let line = text.rsplit('\n').next().unwrap_or("").len();
        match (text.is_empty(), line + term.len() > 100) {
            (true, _) => {}
            (false, false) => text.push_str(" && "),
            (false, true) => text.push_str(" &&\n               "),
        }
        text.push_str(&term);
    }
    text
}

/// Turns macros for integers into enumerators, which every foreign-function interface can read. A constant is added to
/// the enum of the same file whose enumerators have the same prefix (`NETLIB_OP_`), and otherwise gets an enum of its
/// own. The constants cannot be variants of the Rust enum, because Rust allows only one name for a value.
fn enumerators(text: &str) -> String {
    let (constants, mut blocks): (Vec<&str>, Vec<String>) = {
        let (constants, others): (Vec<&str>, Vec<&str>) =
            text.split("\n\n").partition(|block| constant(block).is_some());
        (constants, others.into_iter().map(str::to_owned).collect())
    };
    for (at, block) in constants.into_iter().enumerate() {
        let (doc, name, value) = constant(block).expect("it was one above");
        let family: String = name.split_inclusive('_').take(2).collect();
        let is_alike =
            |block: &&mut String| block.contains(" NETLIB_INT32 {") && block.contains(&format!("\n    {family}"));
        match blocks.iter_mut().find(is_alike) {
            Some(block) => {
                let doc: String = doc.lines().map(|line| format!("    {line}\n")).collect();
                *block = block.replace("\n};", &format!(",\n{doc}    {name} = {value}\n}};"));
            }
            None => blocks.insert(at.min(blocks.len()), format!("{doc}\nenum NETLIB_INT32 {{ {name} = {value} }};")),
        }
    }
    blocks.join("\n\n")
}

/// Returns the documentation, name and value of a macro whose value is a number of type `int`.
fn constant(block: &str) -> Option<(&str, &str, &str)> {
    let (doc, define) = block.rsplit_once('\n')?;
    let (name, value) = define.strip_prefix("#define ")?.split_once(' ')?;
    value.parse::<i32>().is_ok().then_some((doc, name, value))
}

fn status_codes() -> String {
    let mut text = String::from(
        "/** All statuses. A code divided by 100 is the number of its class in `enum netlib_class`. */\nenum netlib_status_code NETLIB_INT32 {\n",
    );
    for (i, status) in Status::ALL.iter().enumerate() {
        let comma = if i + 1 < Status::ALL.len() { "," } else { "" };
        let name = status.name().to_str().unwrap();
        let meaning = sentence(status.text().to_str().unwrap());
        let _ = writeln!(text, "    /** {meaning} */\n    {name} = {}{comma}", *status as i32);
    }
    text.push_str("};\n\n");
    text
}

/// Returns the words of a source text that are names of C enum types in Rust.
fn enum_types(source: &str) -> impl Iterator<Item = &str> {
    let words = source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("enum_netlib_"))
}

fn names_after(source: &str, keyword: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix(keyword))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
