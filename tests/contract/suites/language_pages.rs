//! Runs the programs of docs/howto/languages with the languages that are installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::env::{Env, Ran, has, stem};
use crate::report::Report;
use crate::suites::fetch::server::Server;

const FOLDER: &str = "docs/howto/languages";

/// The language of a page whose program runs. `{source}` in a command is the file of the program, `{program}` the
/// compiled program, `{include}` the directory of netlib.h, and `{library}` the directory of the library.
pub struct Language {
    /// The name of the page, and of its fenced block.
    name: &'static str,
    /// A command that succeeds only if the language is installed.
    detect: &'static [&'static str],
    /// The command that compiles the program, or nothing.
    compile: &'static [&'static str],
    run: &'static [&'static str],
}

pub const LANGUAGES: &[Language] = &[
    Language {
        name: "zig",
        detect: &["python3", "-m", "ziglang", "version"],
        compile: &[
            "python3",
            "-m",
            "ziglang",
            "build-exe",
            "{source}",
            "-lc",
            "-I{include}",
            "-L{library}",
            "-lnetlib",
            "-femit-bin={program}",
        ],
        run: &["{program}"],
    },
    Language { name: "perl", detect: &["perl", "-MFFI::Platypus", "-e1"], compile: &[], run: &["perl", "{source}"] },
    Language {
        name: "ocaml",
        detect: &["ocamlfind", "query", "ctypes.foreign"],
        compile: &[
            "ocamlfind",
            "ocamlopt",
            "-thread",
            "-package",
            "ctypes.foreign",
            "-linkpkg",
            "{source}",
            "-o",
            "{program}",
        ],
        run: &["{program}"],
    },
    Language {
        name: "d",
        detect: &["gdc", "--version"],
        compile: &["gdc", "-Wall", "-Werror", "{source}", "-o", "{program}", "-L{library}", "-lnetlib"],
        run: &["{program}"],
    },
    Language {
        name: "csharp",
        detect: &["mcs", "--version"],
        compile: &["mcs", "-warnaserror", "-out:{program}", "{source}"],
        run: &["mono", "{program}"],
    },
];

/// The sentence at the beginning of a page whose program does not run here.
pub const NOT_RUN: &str = "**The program on this page has not been compiled or run.**";

/// The output of each program without arguments: the version, five parts of a URL, and an error.
const PRINTED: &str = concat!(
    "netlib ",
    env!("CARGO_PKG_VERSION"),
    "\nhttps example.com 8443 /a q=1\nstatus 600, offset 7: the host's bracket is not closed, at byte 7\n"
);

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("language-pages");
    for page in env.files(FOLDER, "", ".md").into_iter().filter(|page| stem(page) != "README") {
        check_page(stem(&page), &fs::read_to_string(&page).unwrap_or_default(), report);
    }
    let (installed, missing): (Vec<_>, Vec<_>) =
        LANGUAGES.iter().partition(|language| command(env, language.detect, str::to_owned).is_some_and(|ran| ran.ok));
    for language in missing {
        report.skip(format!("{} is not installed", language.name));
    }
    if installed.is_empty() {
        return;
    }
    let library = library(env, &scratch);
    let server = match Server::start(env, &scratch) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    for language in installed {
        let text = env.read(&format!("{FOLDER}/{}.md", language.name));
        run_program(env, language, &program_of(&text, language.name), &server, &library, report);
    }
}

/// Makes a directory with the two names of the library, one for linking and one for loading: the development build has
/// no file with the SONAME.
fn library(env: &Env, scratch: &Path) -> PathBuf {
    let directory = scratch.join("library");
    fs::create_dir_all(&directory).expect("target is writable");
    for name in ["libnetlib.so".to_owned(), env.soname()] {
        symlink(env.library().join("libnetlib.so"), directory.join(name)).expect("the directory is empty");
    }
    directory
}

/// Checks that a page has a program. Either this suite runs the program, or the page states that it was not run.
pub fn check_page(name: &str, text: &str, report: &mut Report) {
    let has_program = !program_of(text, name).is_empty();
    report.check(has_program, format!("{FOLDER}/{name}.md has a block \"```{name}\""));
    let is_run = LANGUAGES.iter().any(|language| language.name == name);
    let says_not_run = text.lines().nth(2).is_some_and(|line| line.starts_with(NOT_RUN));
    report.check(
        is_run != says_not_run,
        format!("{FOLDER}/{name}.md begins with \"{NOT_RUN}\" if this suite does not run its program, and only then"),
    );
}

/// Returns the text of the fenced block of a language, or an empty text.
fn program_of(text: &str, language: &str) -> String {
    let block = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("\n```"));
    block.map(|(code, _)| code.to_owned() + "\n").unwrap_or_default()
}

fn run_program(env: &Env, language: &Language, text: &str, server: &Server, library: &Path, report: &mut Report) {
    let name = language.name;
    let extension = match name {
        "ocaml" => "ml",
        "perl" => "pl",
        "csharp" => "cs",
        name => name,
    };
    let (source, program) = (library.with_file_name(format!("{name}.{extension}")), library.with_file_name(name));
    fs::write(&source, text).expect("target is writable");
    let fill_in = |part: &str| {
        part.replace("{source}", &source.display().to_string())
            .replace("{program}", &program.display().to_string())
            .replace("{include}", &env.root.join("include").display().to_string())
            .replace("{library}", &library.display().to_string())
    };
    if let Some(compiled) = command(env, language.compile, fill_in)
        && !report.check(compiled.ok, format!("{FOLDER}/{name}.md: the program compiles\n{}", compiled.text))
    {
        return;
    }
    for (argument, succeeds, expected) in [
        (None, true, PRINTED),
        (Some("https://127.0.0.1:{https}/hello?language"), true, "hello\n"),
        (Some("https://127.0.0.1:{wronghost}/hello?language"), false, "status 801, offset -1: "),
    ] {
        let mut program = env.command(fill_in(language.run[0]));
        program.args(language.run[1..].iter().map(|part| fill_in(part)));
        program.args(argument.map(|url| server.fill_in(url))).load_from(library);
        let ran = program.env("SSL_CERT_FILE", server.fill_in("{server}ca.pem")).run(60);
        compare(name, argument, &ran, (succeeds, expected), report);
    }
}

/// Checks the exit status and the output of a program. The output of a program that fails only begins with the expected
/// text.
pub fn compare(name: &str, argument: Option<&str>, ran: &Ran, expected: (bool, &str), report: &mut Report) {
    let (succeeds, text) = expected;
    let is_right =
        if succeeds { ran.ok && ran.text == text } else { ran.code == Some(1) && ran.text.starts_with(text) };
    report.check(is_right, format!("{FOLDER}/{name}.md: with the argument {argument:?}, it printed\n{}", ran.text));
}

/// Runs a command. Returns None for an empty command, and for a program that is not installed.
fn command(env: &Env, words: &[&str], fill_in: impl Fn(&str) -> String) -> Option<Ran> {
    let (first, rest) = words.split_first()?;
    if !has(first) {
        return None;
    }
    // scripts/prerequisites installs Zig into target/zig.
    let cache = env.target.join("contract/language-pages/zig-cache");
    let mut command = env.command(first);
    command.args(rest.iter().map(|part| fill_in(part))).env("PYTHONPATH", env.root.join("target/zig"));
    command.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache);
    Some(command.run(300))
}
