//! Tests netlib.hpp: every function calls its C function, without overhead; the programs of cpp-tests and examples-cpp;
//! a library of another version is refused. The suite `cpp` makes one build of each program; the suite `cpp-variants`
//! adds the tools and compilers that are slow; `cpp-all` adds the remaining combinations.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cpp::samples;
use crate::env::{Env, Program, Ran, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::{self, VALGRIND};
use crate::suites::fetch::server::Server;

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
const COMPILERS: &[&str] = &["g++", "clang++"];
const VERSIONS: &[&str] = &["c++17", "c++20"];

/// A way to compile a test.
#[derive(Clone, Copy)]
struct Variant {
    compiler: &'static str,
    version: &'static str,
    flags: &'static [&'static str],
}

/// Runs each test with g++ for C++17.
pub fn run(env: &Env, report: &mut Report) {
    let Some(scratch) = start(env, "cpp", report) else { return };
    every_function_makes_one_call(env, &samples::caller(&env.header()), &scratch, report);
    another_version_is_refused(env, &scratch, report);
    an_older_language_version_is_a_single_error(env, &scratch, report);
    examples(env, &scratch, &[], RUNS, report);
    run_tests(env, &scratch, &[PLAIN], &[], report);
}

/// Runs each test under valgrind, with AddressSanitizer, and for C++20 with optimisation. clang only compiles the tests.
pub fn run_variants(env: &Env, report: &mut Report) {
    let Some(scratch) = start(env, "cpp-variants", report) else { return };
    calls_compile_to_the_code_of_c_calls(env, &env.read("cpp-tests/overhead.cpp"), &scratch, report);
    // gcc finds some warnings only when it optimises.
    let mut variants = vec![
        Variant { compiler: "g++", version: "c++20", flags: &["-O2"] },
        Variant { compiler: "g++", version: "c++17", flags: ASAN },
    ];
    if has("clang++") {
        let syntax = |&version| Variant { compiler: "clang++", version, flags: &["-fsyntax-only"] };
        variants.extend(VERSIONS.iter().map(syntax));
    }
    run_tests(env, &scratch, &variants, &[], report);
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let under_valgrind: Vec<&str> = std::iter::once("valgrind").chain(VALGRIND.iter().copied()).collect();
    run_tests(env, &scratch, &[PLAIN], &under_valgrind, report);
    // Valgrind is slow, and these runs use every class of the example: a retry, a redirect and failures.
    let runs: Vec<Run> = RUNS
        .iter()
        .filter(|run| ["busy-once", "redirect-other-origin", "cut-length"].iter().any(|path| run.0.contains(path)))
        .copied()
        .collect();
    examples(env, &scratch, &under_valgrind, &runs, report);
}

/// Runs each test with each compiler and version, with and without AddressSanitizer.
pub fn run_all(env: &Env, report: &mut Report) {
    let Some(scratch) = start(env, "cpp-all", report) else { return };
    let compilers = COMPILERS.iter().filter(|compiler| has(compiler));
    let pairs = compilers.flat_map(|&compiler| VERSIONS.iter().map(move |&version| (compiler, version)));
    let variants: Vec<Variant> = pairs
        .flat_map(|(compiler, version)| [&[][..], &["-O2"], ASAN].map(|flags| Variant { compiler, version, flags }))
        .collect();
    run_tests(env, &scratch, &variants, &[], report);
}

const ASAN: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn start(env: &Env, name: &str, report: &mut Report) -> Option<PathBuf> {
    if !has("g++") {
        report.skip("g++ is not installed");
        return None;
    }
    for compiler in COMPILERS.iter().filter(|compiler| !has(compiler)) {
        report.skip(format!("{compiler} is not installed"));
    }
    Some(env.scratch(name))
}

fn compiler(env: &Env, variant: Variant) -> Program {
    let mut cxx = env.command(variant.compiler);
    cxx.arg(format!("-std={}", variant.version)).args(["-gdwarf-4", "-Iinclude"]).args(STRICT).args(variant.flags);
    cxx
}

const PLAIN: Variant = Variant { compiler: "g++", version: "c++17", flags: &[] };

/// Compiles a file that only includes netlib.hpp for versions of C++ before C++17, and as MSVC would: with the value
/// that MSVC gives __cplusplus by default, and the version in _MSVC_LANG.
fn an_older_language_version_is_a_single_error(env: &Env, scratch: &Path, report: &mut Report) {
    let source = scratch.join("included.cpp");
    fs::write(&source, "#include <netlib.hpp>\nint main() {}\n").expect("target is writable");
    let msvc = |version: &'static str| ["-std=c++17", "-U__cplusplus", "-D__cplusplus=199711L", version];
    let refused: &[(&str, &[&str])] = &[
        ("C++11", &["-std=c++11"]),
        ("C++14", &["-std=c++14"]),
        ("MSVC with /std:c++14", &msvc("-D_MSVC_LANG=201402L")),
    ];
    for compiler in COMPILERS.iter().filter(|compiler| has(compiler)) {
        let compile = |flags: &[&str]| {
            env.command(compiler).args(["-fsyntax-only", "-w", "-Iinclude"]).args(flags).arg(&source).run(60)
        };
        for (version, flags) in refused {
            let ran = compile(flags);
            let errors: Vec<&str> = ran.text.lines().filter(|line| line.contains("error:")).collect();
            let is_single = errors.len() == 1 && errors[0].contains("netlib.hpp needs C++17 or newer");
            report.check(
                !ran.ok && is_single,
                format!(
                    "{compiler}: netlib.hpp refuses {version} with one error, not {}\n{}",
                    errors.len(),
                    ran.text
                ),
            );
        }
        // The compiler's own headers do not compile with this value of __cplusplus, so only netlib.hpp's error counts.
        let ran = compile(&msvc("-D_MSVC_LANG=201703L"));
        report.check(
            !ran.text.contains("netlib.hpp needs"),
            format!("{compiler}: netlib.hpp accepts MSVC with /std:c++17\n{}", ran.text),
        );
    }
}

/// Builds the library that records calls.
fn build_recorder(env: &Env, scratch: &Path, flags: &[&str]) -> Ran {
    let source = scratch.join("recorder.c");
    fs::write(&source, samples::recorder(&env.header())).expect("target is writable");
    let mut cc = env.cc();
    cc.args(["-shared", "-fPIC", "-Iinclude", "-Wno-deprecated-declarations"]).args(flags).arg(source);
    cc.arg("-o").arg(scratch.join("libnetlib.so")).run(300)
}

/// Calls each function of netlib.hpp with a library that records the names of the called C functions.
pub fn every_function_makes_one_call(env: &Env, caller: &str, scratch: &Path, report: &mut Report) {
    let directory = scratch.join("recorder");
    fs::create_dir_all(&directory).expect("target is writable");
    let built = build_recorder(env, &directory, &[]);
    if !report.check(built.ok, format!("the recording library compiles\n{}", built.text)) {
        return;
    }
    let (source, program) = (directory.join("calls.cpp"), directory.join("calls"));
    fs::write(&source, caller).expect("target is writable");
    let mut cxx = compiler(env, PLAIN);
    cxx.args(["-Wno-deprecated-declarations", "-g0"]).arg(source).arg("-o").arg(&program);
    if let Err(text) = cxx.link_to(&directory).run(300).or_text() {
        return report.fail(format!("a call of each function compiles\n{text}"));
    }
    let ran = env.command(&program).load_from(&directory).run(60);
    c_tests::take_counts("calls", &ran, report);
    let expected = format!("calls: {} passed, 0 failed\n", env.header().functions.len());
    report.check(ran.out == expected, format!("each C function is called\n{}", ran.text));
}

/// Loads the program with a library of the next minor version.
fn another_version_is_refused(env: &Env, scratch: &Path, report: &mut Report) {
    let program = scratch.join("recorder/calls");
    let directory = scratch.join("version");
    fs::create_dir_all(&directory).expect("target is writable");
    for (version, accepted) in [
        ("NETLIB_VERSION_NUMBER + 1", true),
        ("NETLIB_VERSION_NUMBER + 1000", false),
        ("NETLIB_VERSION_NUMBER + 1000000", false),
    ] {
        let built = build_recorder(env, &directory, &[&format!("-DRECORDED_VERSION=({version})")]);
        report.check(built.ok, format!("the recording library compiles\n{}", built.text));
        let ran = env.command(&program).load_from(&directory).run(60);
        let right = match accepted {
            true => ran.ok,
            false => !ran.ok && ran.text.contains("cannot use the library netlib"),
        };
        report.check(right, format!("a library of version {version}: accepted is {accepted}\n{}", ran.text));
    }
}

/// Compares the assembler code of functions that use netlib.hpp with that of functions that call C.
pub fn calls_compile_to_the_code_of_c_calls(env: &Env, pairs: &str, scratch: &Path, report: &mut Report) {
    let source = scratch.join("overhead.cpp");
    fs::write(&source, pairs).expect("target is writable");
    for &cxx in COMPILERS.iter().filter(|compiler| has(compiler)) {
        let out = scratch.join(format!("overhead-{cxx}.s"));
        let mut command = env.command(cxx);
        command.args(["-std=c++17", "-O2", "-fno-exceptions", "-fno-asynchronous-unwind-tables", "-Iinclude", "-S"]);
        let built = command.arg(&source).arg("-o").arg(&out).run(300);
        if !report.check(built.ok, format!("{cxx}: cpp-tests/overhead.cpp compiles\n{}", built.text)) {
            continue;
        }
        let text = fs::read_to_string(&out).expect("the compiler has written it");
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("cpp_")?.split_once(':'))
            .map(|(name, _)| name)
            .filter(|name| !name.contains('.'))
            .collect();
        report.check(names.len() == 6, format!("{cxx}: {} functions are compared", names.len()));
        for name in names {
            let (with_cpp, with_c) = (instructions(&text, "cpp", name), instructions(&text, "c", name));
            report.check(
                !with_c.is_empty() && with_cpp == with_c,
                format!("{cxx}: {name}\nC++:\n{}\nC:\n{}", with_cpp.join("\n"), with_c.join("\n")),
            );
        }
    }
}

/// Returns the instructions of the function KIND_NAME. Labels have their number within the function.
fn instructions(text: &str, kind: &str, name: &str) -> Vec<String> {
    let start = format!("{kind}_{name}:");
    let lines = text.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
    let body = lines.take_while(|line| !line.starts_with("\t.size"));
    let mut labels: Vec<String> = Vec::new();
    body.filter(|line| !line.starts_with("\t.") && !line.trim_start().starts_with('#'))
        .map(|line| {
            let mut line = line.split("#").next().unwrap_or("").trim_end().to_owned();
            let found = line.find(".L").map(|at| {
                line[at..]
                    .split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_'))
                    .next()
                    .unwrap_or("")
                    .to_owned()
            });
            if let Some(label) = found {
                let at = labels.iter().position(|known| *known == label).unwrap_or(labels.len());
                if at == labels.len() {
                    labels.push(label.clone());
                }
                line = line.replace(&label, &format!(".label{at}"));
            }
            line
        })
        // Labels, and the name of the part for unlikely branches.
        .filter(|line| !line.is_empty() && line.starts_with('\t'))
        .collect()
}

/// Runs every test in every variant. `before` is a command that runs a test program, for example valgrind with its
/// arguments; it may be empty. A test may state compiler flags in its first line: "// flags: ...".
fn run_tests(env: &Env, scratch: &Path, variants: &[Variant], before: &[&str], report: &mut Report) {
    let mut cases = Vec::new();
    for source in env.files("cpp-tests", "test_", ".cpp") {
        cases.extend(variants.iter().map(|&variant| (source.clone(), variant)));
    }
    report.check(!cases.is_empty(), "there are C++ tests");
    for one in parallel(&cases, |(source, variant)| test(env, source, *variant, scratch, before)) {
        report.merge(one);
    }
}

fn test(env: &Env, source: &Path, variant: Variant, scratch: &Path, before: &[&str]) -> Report {
    let mut report = Report::default();
    let library = env.development_library();
    let Variant { compiler: cxx, version, flags } = variant;
    let what = format!("{} with {cxx} -std={version} {}", stem(source), flags.join(" "));
    let program = scratch.join(what.replace([' ', '/', '='], "-"));
    let text = fs::read_to_string(source).unwrap_or_default();
    let own = text.lines().next().and_then(|line| line.strip_prefix("// flags: ")).unwrap_or("");
    let syntax_only = flags.contains(&"-fsyntax-only");
    let mut command = compiler(env, variant);
    command.args(own.split_whitespace()).arg("-Icpp-tests").arg(source);
    // A test may have further source files.
    command.args(env.files("cpp-tests", &format!("{}_", stem(source).trim_start_matches("test_")), ".cpp"));
    if !syntax_only {
        command.arg("-o").arg(&program).link_to(library);
    }
    if let Err(text) = command.run(300).or_text() {
        report.fail(format!("{what} does not compile\n{text}"));
        return report;
    }
    if syntax_only {
        report.check(true, "");
        return report;
    }
    let mut command = command_after(env, before, &program);
    let ran = command.load_from(library).env("ASAN_OPTIONS", "detect_leaks=1").run(300);
    c_tests::take_counts(&what, &ran, &mut report);
    report
}

/// Returns the command `before` with the program as its last argument, or the program alone if `before` is empty.
fn command_after(env: &Env, before: &[&str], program: &Path) -> Program {
    let Some((first, rest)) = before.split_first() else { return env.command(program) };
    let mut command = env.command(first);
    command.args(rest).arg(program);
    command
}

/// Compiles and links one C++ file with the shared library in the directory `library`.
pub fn compile(env: &Env, source: &Path, program: &Path, library: &Path) -> Result<(), String> {
    compiler(env, PLAIN).arg(source).arg("-o").arg(program).link_to(library).run(300).or_text()
}

/// A run of examples-cpp/get.cpp: a path of the misbehaving server, the exit code, and parts of the expected output on
/// standard output and standard error.
type Run = (&'static str, i32, &'static str, &'static str);

const RUNS: &[Run] = &[
    ("https://127.0.0.1:{https}/hello?cpp", 0, "hello\n", ""),
    ("http://127.0.0.1:{http}/hello?cpp", 0, "hello\n", ""),
    ("https://127.0.0.1:{https}/busy-once?cpp", 0, "hello\n", ""),
    ("https://127.0.0.1:{https}/until-close?cpp", 0, "until the end\n", ""),
    ("https://127.0.0.1:{https}/zero?cpp", 0, "", ""),
    (
        "https://127.0.0.1:{https}/redirect-other-origin?cpp",
        0,
        "GET /echo\nHost: 127.0.0.1:{https2nd}\nconnection: close\n\n",
        "",
    ),
    ("https://127.0.0.1:{https}/redirect-to-plain?cpp", 1, "", "a redirect from https to http is refused\n"),
    ("https://127.0.0.1:{https}/cut-length?cpp", 1, "only this\n", "after 10 of 100 bytes of the body\n"),
    ("https://127.0.0.1:{wronghost}/hello?cpp", 1, "", "is for other.test\n"),
    ("http://127.0.0.1:{closed}/", 1, "", "cause: 127.0.0.1 port {closed}: Connection refused"),
    ("https:example.com", 1, "", "the scheme is not followed by \"://\" at byte 5\n"),
];

/// Compiles examples-cpp/get.cpp, and runs it with the arguments of each row. `before` is a command that runs the
/// program, such as valgrind with its options; or empty.
fn examples(env: &Env, scratch: &Path, before: &[&str], runs: &[Run], report: &mut Report) {
    let server = match Server::start(env, scratch) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    let program = scratch.join("get");
    let library = env.development_library();
    if let Err(text) = compile(env, &env.root.join("examples-cpp/get.cpp"), &program, library) {
        return report.fail(format!("examples-cpp/get.cpp does not compile\n{text}"));
    }
    for (url, code, printed, error) in runs {
        let (url, printed, error) = (server.fill_in(url), server.fill_in(printed), server.fill_in(error));
        let mut command = command_after(env, before, &program);
        let ran =
            command.arg(&url).load_from(library).env("SSL_CERT_FILE", server.fill_in("{server}ca.pem")).run(120);
        let right = ran.code == Some(*code) && ran.out == printed && ran.text.contains(&error);
        report.check(right, format!("get {url} ends with {code} and prints {printed:?}, {error:?}\n{}", ran.text));
    }
}
