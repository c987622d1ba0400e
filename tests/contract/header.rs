//! Makes netlib.h: cbindgen turns each file of `src/ffi/api` into a section; the template holds the opening page.

use std::fmt::Write as _;
use std::path::Path;

use netlib::status::Status;

/// The header's sections, in reading order: a file of `src/ffi/api` each, unless [`parts`] says more.
const SECTIONS: &[&str] =
    &["basics", "limit", "url", "timeout", "retry", "headers", "response", "body", "socket", "tls", "deprecated"];

/// The files of a section under `src/ffi/api`, in reading order. Its title is the first line of `<section>.rs`.
fn parts(section: &str) -> Vec<String> {
    match section {
        "retry" => [
            "retry/options.rs",
            "retry/waits.rs",
            "retry/recommended.rs",
            "retry.rs",
            "retry/decision.rs",
            "retry/fields.rs",
            "retry/constants.rs",
        ]
        .map(String::from)
        .to_vec(),
        "url" => ["url.rs", "url/readers.rs"].map(String::from).to_vec(),
        "socket" => [
            "socket/options.rs",
            "socket/address.rs",
            "socket/resolve.rs",
            "socket.rs",
            "socket/race.rs",
            "socket/unix.rs",
            "socket/wait.rs",
            "socket/throughput.rs",
        ]
        .map(String::from)
        .to_vec(),
        "tls" => [
            "tls.rs",
            "tls/trust.rs",
            "tls/identity.rs",
            "tls/verify.rs",
            "tls/options.rs",
            "tls/openssl.rs",
            "tls/servername.rs",
            "tls/stream.rs",
            "tls/session.rs",
            "tls/transport.rs",
            "tls/engine.rs",
            "tls/resumption.rs",
            "tls/early.rs",
            "tls/ech.rs",
            "tls/certificate.rs",
            "tls/chain.rs",
            "tls/context.rs",
            "tls/connection_key.rs",
            "tls/urllib3.rs",
        ]
        .map(String::from)
        .to_vec(),
        one_file => vec![format!("{one_file}.rs")],
    }
}

/// The whole text of `include/netlib.h`.
pub fn generate(root: &Path) -> String {
    let template = read(&root.join("src/ffi/netlib.h.in"));
    let mut handles = String::new();
    let mut sections = String::new();
    for name in SECTIONS {
        let file = root.join(format!("src/ffi/api/{name}.rs"));
        if file.exists() {
            add_section(root, name, &mut handles, &mut sections);
        }
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

fn add_section(root: &Path, name: &str, handles: &mut String, sections: &mut String) {
    let source = read(&root.join(format!("src/ffi/api/{name}.rs")));
    let title = source.lines().next().unwrap_or("").trim_start_matches("//! ");
    let rule = "=".repeat(114);
    let _ = write!(sections, "/* {rule}\n * {name}: {title}\n * {rule} */\n\n");
    if name == "basics" {
        sections.push_str(&status_codes());
    }
    for (index, part) in parts(name).into_iter().enumerate() {
        let file = root.join("src/ffi/api").join(part);
        // A section of several files is long: each of them is a chapter to look for.
        let chapter = read(&file).lines().next().unwrap_or("").trim_start_matches("//! ").to_owned();
        if index > 0 || chapter != title {
            let _ = write!(sections, "/* ---- {chapter} ---- */\n\n");
        }
        add_part(root, &file, handles, sections);
    }
}

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

    for line in enumerators(&compact(&text)).lines() {
        match line.strip_prefix("typedef struct ").and_then(|rest| rest.strip_suffix(';')) {
            // The typedefs stand together at the top, so that a section may use a later one's handles; the type's
            // documentation stays in its section, on a declaration that C and C++ allow any number of times.
            Some(pair) if !pair.contains('{') => {
                let handle = pair.split(' ').next().unwrap_or("");
                let _ = writeln!(handles, "typedef struct {handle} {handle};");
                let _ = writeln!(sections, "struct {handle};");
            }
            _ => {
                if is_must_use(line) {
                    sections.push_str("NETLIB_MUST_USE\n");
                }
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

/// Puts one-line comments on one line, writes enums as `enum name NETLIB_INT32`, so that C and C++ name them alike, and
/// gives structs their tag.
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
