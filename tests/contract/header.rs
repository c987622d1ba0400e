//! Makes netlib.h: cbindgen turns each file of `src/ffi/api` into a section; the template holds the opening page.

use std::fmt::Write as _;
use std::path::Path;

use netlib::status::Status;

/// The module whose declarations are the table of contents: its public modules are the sections of the header, and the
/// public modules of a section are its chapters, in the order in which they are declared. A section begins with the items
/// of its own file.
const CONTENTS: &str = "src/ffi/api";

fn public_modules(source: &str) -> Vec<String> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    lines.map(str::to_owned).collect()
}

/// The whole text of `include/netlib.h`.
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

/// The source of [`CONTENTS`].
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

/// The first line of a module's documentation.
fn title(source: &str) -> &str {
    source.lines().next().unwrap_or("").trim_start_matches("//! ")
}

/// The maximum line width of the header.
const WIDEST: usize = 120;

fn add_part(root: &Path, file: &Path, handles: &mut String, sections: &mut String) {
    let source = read(file);
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    // Rust's functions take and return numbers, so nothing refers to the enums; and the functions of a handle or of a
    // callback's type may all be in other files.
    config.export.include = names_after(&source, "pub enum ");
    config.export.include.extend(names_after(&source, "pub struct "));
    config.export.include.extend(names_after(&source, "pub type "));
    // src/ffi/enums.rs: what Rust calls enum_netlib_x is `enum netlib_x` in C.
    config.export.rename.extend(enum_types(&source).map(|name| (name.to_owned(), name.replacen('_', " ", 1))));
    let mut text = Vec::new();
    cbindgen::Builder::new().with_config(config).with_src(file).generate().expect("cbindgen").write(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");

    for line in filled(&enumerators(&compact(&text))).lines() {
        match line.strip_prefix("typedef struct ").and_then(|rest| rest.strip_suffix(';')) {
            // The typedefs stand together at the top, so that a section may use a later one's handles; the type's
            // documentation stays in its section, on a declaration that C and C++ allow any number of times.
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

/// Functions whose failure changes nothing that a caller does next: the connection is closed anyway, or a handshake is
/// full instead of resumed.
pub const BEST_EFFORT: &[&str] = &[
    "netlib_tls_stream_shutdown",
    "netlib_tls_stream_shutdown_both",
    "netlib_tls_engine_shutdown",
    "netlib_tls_stream_take_session",
    "netlib_tls_engine_take_session",
    "netlib_tls_stream_set_session",
    "netlib_tls_engine_set_session",
];

/// The line begins a function that can fail, or that returns a handle which the caller frees. A getter of a status is
/// neither.
fn is_must_use(line: &str) -> bool {
    let owned = |rest: &str| rest.split_once(" *netlib_").is_some_and(|(handle, _)| !handle.contains([' ', '(']));
    let can_fail = |rest: &str| {
        let name = rest.split('(').next().unwrap_or("");
        !name.ends_with("_status") && !BEST_EFFORT.contains(&name)
    };
    line.strip_prefix("netlib_status ").is_some_and(can_fail) || line.strip_prefix("netlib_").is_some_and(owned)
}

/// Begins and ends comments on lines of text, drops the empty line before their tags, writes enums as `enum name
/// NETLIB_INT32`, so that C and C++ name them alike, and gives structs their tag.
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
        // A comment ends on its last line of text if that fits and is no code.
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

/// Writes each function and callback type on as few lines as fit, its attributes before it.
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
            declaration.insert_str(0, "NETLIB_MUST_USE ");
        }
        fill(&declaration, &mut out);
    }
    out
}

/// Breaks a declaration of more than 118 columns behind commas, and aligns what follows with the first parameter.
fn fill(declaration: &str, out: &mut String) {
    const WIDTH: usize = 118;
    let (name, params) = match declaration.split_once(")(") {
        Some((name, params)) => (format!("{name})("), params),
        None => declaration.split_once('(').map(|(name, params)| (format!("{name}("), params)).expect("a function"),
    };
    let indent = " ".repeat(name.len());
    let mut line = name;
    for (at, param) in params.split(", ").enumerate() {
        let last = param.ends_with(';');
        if at > 0 && line.len() + 1 + param.len() + usize::from(!last) > WIDTH {
            let _ = writeln!(out, "{line}");
            line = indent.clone();
        } else if at > 0 {
            line.push(' ');
        }
        line.push_str(param);
        line.push_str(if last { "" } else { "," });
    }
    let _ = writeln!(out, "{line}");
}

/// The condition of the static assertion: every enum has four bytes. At most 120 columns wide.
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

/// Turns macros for integers into enumerators, which every foreign-function layer can read. A constant joins the enum of
/// its file whose values begin alike (`NETLIB_OP_`), since C allows two names for one value and Rust does not; else it
/// stands alone.
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

/// The documentation, name and value of a macro for a number that fits an `int`.
fn constant(block: &str) -> Option<(&str, &str, &str)> {
    let (doc, define) = block.rsplit_once('\n')?;
    let (name, value) = define.strip_prefix("#define ")?.split_once(' ')?;
    value.parse::<i32>().is_ok().then_some((doc, name, value))
}

fn status_codes() -> String {
    let mut text = String::from(
        "/** Every status. A code's hundreds are its class. */\nenum netlib_status_code NETLIB_INT32 {\n",
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

/// The words of a source that stand for the type of a C enum.
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
