//! Generates a C program from netlib.h that calls every function with one pointer NULL at a time and the other
//! arguments valid. The documentation of a parameter states the expected result of passing NULL. The program also calls
//! every function on a thread with a pending cancellation, which must not take effect inside the function.
//!
//! Macros in c-tests/support/null_makers.h, called makers, create the valid arguments; the first comment of that file
//! says which maker applies to a parameter. The suite fails if a parameter has no maker.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::description::nulls::{self, Null, is_handle};
use crate::env::Env;
use crate::model::{Function, Header, Param};
use crate::report::Report;
use crate::suites::c_tests::run_counted;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("nulls");
    let makers = env.read("c-tests/support/null_makers.h");
    check(env, &env.header(), &makers, "", env.library(), &scratch, report);
}

/// Generates, compiles and runs the program. `extra` is C code that is inserted after the makers.
pub fn check(
    env: &Env,
    header: &Header,
    makers: &str,
    extra: &str,
    library: &Path,
    scratch: &Path,
    report: &mut Report,
) {
    let sweep = Sweep { header, makers: Makers::of(makers) };
    let program = match sweep.program(extra) {
        Ok(program) => program,
        Err(problems) => return report.problems("the program cannot be generated", problems),
    };
    let (source, binary) = (scratch.join("nulls.c"), scratch.join("nulls"));
    fs::write(&source, program).expect("target is writable");
    make_identity(scratch);
    let mut cc = env.strict_cc();
    cc.arg(format!("-DTEST_DIRECTORY=\"{}\"", scratch.display()));
    match cc.arg(&source).arg("-o").arg(&binary).link_to(library).run(300).or_text() {
        Ok(()) => run_counted(env, &binary, library, &[], report),
        Err(text) => report.fail(format!("the generated program does not compile\n{text}")),
    }
}

/// Writes cert.pem and key.pem, a certificate and its key that the makers use.
pub fn make_identity(directory: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(directory.join("cert.pem"), made.cert.pem()).expect("target is writable");
    fs::write(directory.join("key.pem"), made.signing_key.serialize_pem()).expect("target is writable");
}

/// Returns a line `#define HAVE_name 1` for each function of the header, so that C code can test with #ifdef whether a
/// function exists.
pub fn have(header: &Header) -> String {
    header.functions.iter().map(|function| format!("#define HAVE_{} 1\n", function.name)).collect()
}

/// The variants in which the program calls a function.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Valid,
    Null(&'a Param),
    Canceled,
}

struct Sweep<'a> {
    header: &'a Header,
    makers: Makers,
}

/// The names of the macros in null_makers.h.
struct Makers(BTreeSet<String>);

impl Makers {
    fn of(text: &str) -> Makers {
        let defines =
            text.lines().filter_map(|line| line.trim_start_matches('#').trim_start().strip_prefix("define "));
        Makers(defines.map(|rest| rest.split([' ', '(']).next().unwrap_or("").to_owned()).collect())
    }

    /// Returns the most specific maker macro for a parameter of a function.
    fn find(&self, function: &Function, param: &Param) -> Option<String> {
        let ctype = key(&param.ctype);
        let specific = [
            format!("MAKE__{}__{}", function.name, param.name),
            format!("MAKE__{ctype}__{}", param.name),
            format!("MAKE__{ctype}"),
        ];
        specific.into_iter().find(|name| self.0.contains(name))
    }

    fn named(&self, prefix: &str, rest: &str) -> Option<String> {
        Some(format!("{prefix}__{rest}")).filter(|name| self.0.contains(name))
    }
}

/// Returns a type as a part of a macro's name: `netlib_url_ptr` for `const netlib_url*`, `const_char_ptr` for `const
/// char*`.
fn key(ctype: &str) -> String {
    let ctype = if ctype.starts_with("const netlib_") { &ctype["const ".len()..] } else { ctype };
    ctype.replace("*const*", "_ptr_const_ptr").replace('*', "_ptr").replace(' ', "_")
}

impl Sweep<'_> {
    fn program(&self, extra: &str) -> Result<String, Vec<String>> {
        let mut cases = String::new();
        let mut table = String::new();
        let mut problems = Vec::new();
        let mut count = 0;
        for function in &self.header.functions {
            let pointers = function.params.iter().filter(|param| self.header.is_pointer(param));
            for kind in [Kind::Valid, Kind::Canceled].into_iter().chain(pointers.map(Kind::Null)) {
                match self.case(function, kind) {
                    Ok(body) => {
                        let what = match kind {
                            Kind::Null(param) => format!("{} with {} NULL", function.name, param.name),
                            Kind::Valid => format!("{} with valid arguments", function.name),
                            Kind::Canceled => format!("{} on a thread that is being canceled", function.name),
                        };
                        let _ = write!(cases, "static void case_{count}(void) {{\n{body}}}\n\n");
                        let _ = writeln!(table, "    {{\"{what}\", case_{count}}},");
                        count += 1;
                    }
                    Err(problem) if problems.contains(&problem) => {}
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(format!(
            "/* Generated from netlib.h by the suite `nulls`. */\n{}\
             #define NETLIB_MUST_USE\n#define NETLIB_DEPRECATED_NOTE(note)\n#include <netlib.h>\n\
             #include \"null_makers.h\"\n{extra}\n#include \"null_sweep.h\"\n\n{cases}\
             static const struct sweep_case cases[] = {{\n{table}}};\n\n\
             int main(void) {{ return sweep(cases, sizeof cases / sizeof cases[0]); }}\n",
            have(self.header),
        ))
    }

    /// Returns the C code of one call and its checks. Fails if an argument has no maker macro, or if the expected
    /// result is not documented.
    fn case(&self, function: &Function, kind: Kind<'_>) -> Result<String, String> {
        let null = if let Kind::Null(param) = kind { Some(param) } else { None };
        let mut body = String::new();
        let mut arguments = Vec::new();
        let mut outputs = Vec::new();
        for param in &function.params {
            let name = &param.name;
            let is_null = null.is_some_and(|null| null.name == *name);
            if is_null {
                arguments.push("NULL".to_owned());
            } else if let Some(maker) = self.makers.find(function, param) {
                let _ = writeln!(body, "    {} arg_{name} = {maker};", param.ctype);
                arguments.push(format!("arg_{name}"));
            } else if let Some(pointed) = self.output(param) {
                // The output variable is not zero before the call, so that the test detects whether the call sets it to
                // zero.
                let _ =
                    writeln!(body, "    {pointed} out_{name};\n    memset(&out_{name}, 0x01, sizeof out_{name});");
                arguments.push(format!("&out_{name}"));
                outputs.push((param, pointed));
            } else {
                return Err(format!(
                    "{}: nothing makes its parameter `{}`: add MAKE__{} (or MAKE__{0}__{name}) to null_makers.h",
                    function.name,
                    format_args!("{} {name}", param.ctype),
                    key(&param.ctype),
                ));
            }
        }
        let call = format!("{}({})", function.name, arguments.join(", "));
        let mut call = match function.returns.as_str() {
            "void" => format!("    {call};\n"),
            _ if function.returns_status() => format!("    netlib_status status = {call};\n"),
            returned => format!("    {returned} result = {call};\n    (void)result;\n"),
        };
        if matches!(kind, Kind::Canceled) {
            call = format!("    begin_canceled();\n{call}    end_canceled();\n");
        }
        body.push_str(&call);
        let said = match null {
            Some(param) => {
                let said = nulls::null(self.header, function, param)
                    .map_err(|problem| format!("{}: {}: {problem}", function.name, param.name))?;
                Some((param, said))
            }
            None => None,
        };
        if function.returns_status() {
            self.status_call(function, said, &outputs, &mut body);
        } else {
            self.value_call(function, said, &outputs, &mut body)?;
        }
        Ok(body)
    }

    fn status_call(
        &self,
        function: &Function,
        said: Option<(&Param, Null)>,
        outputs: &[(&Param, String)],
        body: &mut String,
    ) {
        let err = if outputs.iter().any(|(param, _)| param.name == "err") { "out_err" } else { "NULL" };
        let expected = self.makers.named("BASELINE", &function.name).unwrap_or("NETLIB_OK".to_owned());
        match said {
            Some((param, Null::Refused)) => {
                let _ = writeln!(body, "    expect_refused(status, {err}, \"{}\", \"\");", param.name);
                self.zeroed(function, outputs, body);
            }
            Some((param, Null::Allowed(_))) if param.name != "err" => {
                let _ = writeln!(body, "    expect_accepted(status, {err});");
            }
            // The result must be the same if the caller passes NULL for the error pointer.
            Some(_) | None => {
                let _ = writeln!(body, "    expect_valid(status, {err}, {expected});");
            }
        }
    }

    fn value_call(
        &self,
        function: &Function,
        said: Option<(&Param, Null)>,
        outputs: &[(&Param, String)],
        body: &mut String,
    ) -> Result<(), String> {
        let first = function.params.first();
        match said {
            Some((param, Null::Refused)) if function.returns == "void" => {
                // A setter of options returns no status: the options store the error until a function uses the options.
                let options = first.filter(|first| is_handle(self.header, first)).map_or("", |first| &first.ctype);
                let options = options.trim_start_matches("const ").trim_end_matches('*');
                let use_options = self.makers.named("USE_OPTIONS", options).ok_or_else(|| {
                    format!(
                        "{}: nothing tells what it kept: add USE_OPTIONS__{options}(options, err) to null_makers.h",
                        function.name
                    )
                })?;
                let _ = writeln!(
                    body,
                    "    netlib_error *kept = NULL;\n    netlib_status status = {use_options}(arg_{}, &kept);\n    \
                     expect_refused(status, kept, \"{}\", \"{}\");",
                    first.map_or("", |first| &first.name),
                    param.name,
                    function.name,
                );
            }
            Some((_, Null::Refused)) => {
                let fallback = first
                    .and_then(|first| nulls::null(self.header, function, first).ok())
                    .and_then(|null| if let Null::Allowed(value) = null { value } else { None });
                let _ = writeln!(
                    body,
                    "    expect(result == {}, \"its fallback is returned\");",
                    fallback.unwrap_or("0".to_owned())
                );
            }
            Some((param, Null::Allowed(fallback))) => {
                if let (Some(fallback), true) = (fallback, function.returns != "void") {
                    let _ = writeln!(body, "    expect(result == {fallback}, \"{fallback} is returned\");");
                }
                if first.is_some_and(|first| first.name == param.name) {
                    self.zeroed(function, outputs, body);
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Adds C code to `body` that checks that a failed call has set all outputs except `err` to zero.
    fn zeroed(&self, function: &Function, outputs: &[(&Param, String)], body: &mut String) {
        for (param, _) in outputs.iter().filter(|(param, _)| param.name != "err") {
            // A failed call sets a descriptor to -1 instead of 0, because 0 is a valid descriptor.
            let _ = match function.doc.param(&param.name).unwrap_or("") {
                text if text.starts_with("in/out") => Ok(()),
                _ if param.ctype == "int*" => {
                    writeln!(body, "    expect(out_{} == -1, \"{0} is -1\");", param.name)
                }
                _ => writeln!(body, "    expect(!out_{}, \"{0} is zeroed\");", param.name),
            };
        }
    }

    /// Returns the type that a parameter points to, if the parameter is an output.
    fn output(&self, param: &Param) -> Option<String> {
        let pointed = param.ctype.strip_suffix('*')?;
        let numbers =
            ["size_t", "int32_t", "netlib_status", "uint32_t", "int64_t", "uint64_t", "int", "double", "uint16_t"];
        let is_handle = pointed.ends_with('*') && !pointed.starts_with("const char");
        (numbers.contains(&pointed) || pointed.starts_with("enum ") || is_handle || pointed == "const char*")
            .then(|| pointed.to_owned())
    }
}
