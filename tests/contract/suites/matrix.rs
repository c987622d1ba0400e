//! Compiles netlib.h with each compiler and language version, with all warnings, included twice, and in two translation
//! units.

use std::fs;
use std::path::Path;

use crate::env::{Env, STRICT, has, parallel};
use crate::model::Header;
use crate::report::Report;

const C_VERSIONS: &[&str] = &["c99", "c11", "c17"];
const CXX_VERSIONS: &[&str] = &["c++11", "c++17", "c++20"];

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("matrix");
    check(env, &env.root.join("include"), &scratch, Some(env.library()), report);
}

/// Runs the checks with the netlib.h in the directory `include`. Programs are linked only if `library` is given.
pub fn check(env: &Env, include: &Path, scratch: &Path, library: Option<&Path>, report: &mut Report) {
    // Each of the two translation units includes the header twice and takes the address of a function, so that the
    // linker sees duplicate definitions.
    let unit = |own: &str, other: &str| {
        format!(
            "#include <netlib.h>\n#include <netlib.h>\n\
             const char *{own}(void);\nconst char *{other}(void);\n\
             const char *{own}(void) {{ return netlib_status_name(NETLIB_OK); }}\n"
        )
    };
    // The program uses every constant, because a strict compiler may reject the value of a macro only where it is used.
    let text = fs::read_to_string(include.join("netlib.h")).expect("netlib.h");
    let constants: String = Header::parse(&text)
        .constants()
        .filter(|constant| {
            !["NETLIB_MUST_USE", "NETLIB_DEPRECATED_NOTE", "NETLIB_INT32"].contains(&constant.name.as_str())
        })
        .map(|constant| match (&constant.name, &constant.value) {
            (name, list) if list.starts_with('"') && list.contains(',') => {
                format!("    {{ static const char *const list[] = {{{name}}}; (void)list; }}\n")
            }
            (name, list) if list.contains(',') => {
                format!("    {{ static const int list[] = {{{name}}}; (void)list; }}\n")
            }
            (name, _) => format!("    (void)({name});\n"),
        })
        .collect();
    let main = format!("void constants(void);\nvoid constants(void) {{\n{constants}}}\n")
        + "int main(void) { return one()[0] == two()[0] ? 0 : 1; }\n";
    for extension in ["c", "cpp"] {
        let write = |name: &str, text: String| {
            fs::write(scratch.join(format!("{name}.{extension}")), text).expect("target is writable");
        };
        write("one", unit("one", "two") + &main);
        write("two", unit("two", "one"));
    }
    let mut cases = Vec::new();
    for (c, cxx) in [("gcc", "g++"), ("clang", "clang++")] {
        for (compiler, versions, extension) in [(c, C_VERSIONS, "c"), (cxx, CXX_VERSIONS, "cpp")] {
            match has(compiler) {
                true => cases.extend(versions.iter().map(|version| (compiler, *version, extension))),
                false => report.skip(format!("{compiler} is not installed")),
            }
        }
    }
    report.check(!cases.is_empty(), "there is a compiler");
    for result in parallel(&cases, |&(compiler, version, extension)| {
        let program = scratch.join(format!("{compiler}-{version}"));
        let mut build = env.command(compiler);
        build.arg(format!("-std={version}")).args(STRICT).args((extension == "c").then_some("-Wstrict-prototypes"));
        build.arg("-I").arg(include);
        build.args(["one", "two"].map(|name| scratch.join(format!("{name}.{extension}"))));
        match library {
            Some(library) => build.arg("-o").arg(&program).link_to(library),
            None => build.arg("-fsyntax-only"),
        };
        let what = format!("{compiler} -std={version}");
        let mut report = Report::default();
        let built = build.run(300);
        if report.check(built.ok, format!("{what}: two units that include netlib.h twice\n{}", built.text))
            && let Some(library) = library
        {
            let ran = env.command(&program).load_from(library).run(60);
            report.check(ran.ok, format!("{what}: the program runs\n{}", ran.text));
        }
        report
    }) {
        report.merge(result);
    }
    values_of_another_enum_are_reported_by_compilers(env, include, scratch, report);
    for version in C_VERSIONS {
        plain(env, include, version, report);
    }
}

/// Tools that read the preprocessed header (cffi, LuaJIT, ctypes generators) accept only plain C99.
fn plain(env: &Env, include: &Path, version: &str, report: &mut Report) {
    let std = format!("-std={version}");
    let run = env.cc().args([&std, "-E", "-P", "-DNETLIB_PLAIN_C"]).arg(include.join("netlib.h")).run(60);
    if !report.check(run.ok, format!("the header is preprocessed with {std}\n{}", run.text)) {
        return;
    }
    let declarations = &run.out[run.out.find("typedef struct netlib_").unwrap_or(0)..];
    for extension in ["__attribute__", "_Static_assert", "int32_t {", "NETLIB_INT32"] {
        report.check(
            !declarations.contains(extension),
            format!("with NETLIB_PLAIN_C and {std}, the header has no {extension}"),
        );
    }
}

/// Passes enum values to a setter. A value of another enum than the parameter's must cause a warning in C and an error
/// in C++. A value of the enum that the parameter has must compile without a warning.
fn values_of_another_enum_are_reported_by_compilers(env: &Env, include: &Path, scratch: &Path, report: &mut Report) {
    let text = "#include <netlib.h>\nvoid set(netlib_tls_options *options);\n\
                void set(netlib_tls_options *options) { netlib_tls_options_set_verify_mode(options, VALUE); }\n";
    let compile = |compiler: &str, version: &str, extension: &str, warnings: &[&str], value: &str| {
        let source = scratch.join(format!("enums.{extension}"));
        fs::write(&source, text).expect("target is writable");
        let mut build = env.command(compiler);
        build.arg(format!("-std={version}")).args(["-fsyntax-only", "-Wextra"]).args(warnings);
        build.arg(format!("-DVALUE={value}")).arg("-I").arg(include).arg(source).run(60)
    };
    for (c, cxx) in [("gcc", "g++"), ("clang", "clang++")] {
        for (compiler, version, extension) in [(c, "c99", "c"), (c, "c17", "c"), (cxx, "c++11", "cpp")] {
            if !has(compiler) {
                continue;
            }
            let what = format!("{compiler} -std={version}");
            let right = compile(compiler, version, extension, &["-Werror"], "NETLIB_CERT_REQUIRED");
            report.check(right.ok, format!("{what}: a value of the right enum compiles\n{}", right.text));
            let wrong = compile(compiler, version, extension, &[], "NETLIB_VERIFY_FLAG_DEFAULT");
            match extension {
                "c" => report.check(
                    wrong.ok && wrong.text.contains("-Wenum-conversion"),
                    format!("{what}: a value of another enum is a warning\n{}", wrong.text),
                ),
                _ => report.check(!wrong.ok, format!("{what}: a value of another enum is an error")),
            };
        }
    }
    if has("gcc") {
        let short = compile("gcc", "c11", "c", &["-fshort-enums"], "NETLIB_CERT_REQUIRED");
        report.check(
            !short.ok && short.text.contains("an enum of netlib has four bytes"),
            format!("gcc -fshort-enums is refused\n{}", short.text),
        );
    }
}
