//! A gate that cannot fail is no gate: each suite's checking code is given something broken, and must say so.

use std::fs;
use std::path::Path;

use crate::env::{Env, Ran, has};
use crate::model::Header;
use crate::report::Report;
use crate::suites::examples::Example;
use crate::suites::interop::mistaken;
use crate::suites::{
    c_tests, docs, examples, generated, guards, incidents, install, interop, keys, matrix, nulls, panics, spec_map,
    statuses, symbols, threads, unit, unsafe_code, vectors,
};

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("negative");
    for gate in [
        unit_tests,
        header_drift,
        documentation,
        header_matrix,
        exported_symbols,
        null_sweep,
        status_table,
        panic_guard,
        map_of_the_specification,
        named_incidents,
        unguarded_functions,
        unsafe_sources,
        threads_and_dlopen,
        installed_tree,
        example_programs,
        c_programs,
        memory_errors,
        loaded_keys,
        recorded_answers,
        other_implementations,
    ] {
        gate(env, &scratch, report);
    }
}

/// One check for each complaint that the gate owes.
fn finds(report: &mut Report, gate: &str, complaints: &[&str], check: impl FnOnce(&mut Report)) {
    let mut inner = Report::default();
    check(&mut inner);
    let text = inner.failures.join("\n") + "\n" + &inner.notes.join("\n");
    for complaint in complaints {
        report.check(
            inner.failed() > 0 && text.contains(complaint),
            format!("the gate \"{gate}\" did not say \"{complaint}\"; it said:\n{text}"),
        );
    }
}

fn unit_tests(_: &Env, _: &Path, report: &mut Report) {
    let ran = |ok: bool, text: &str| Ran { ok, code: Some(0), out: text.to_owned(), text: text.to_owned() };
    let one_failed = ran(false, "test result: FAILED. 3 passed; 1 failed; 0 ignored;");
    finds(report, "unit", &["1 failed"], |inner| unit::check(&one_failed, inner));
    let nothing_ran = ran(true, "");
    finds(report, "unit", &["cargo test --lib"], |inner| unit::check(&nothing_ran, inner));
}

fn header_drift(env: &Env, _: &Path, report: &mut Report) {
    let generated = env.header_text();
    let committed = generated.replace("netlib_version(void)", "netlib_version(int32_t)");
    finds(report, "header", &["make header", "committed \"const char *netlib_version(int32_t);\""], |inner| {
        generated::drift("include/netlib.h", &committed, &generated, inner);
    });
}

fn documentation(_: &Env, _: &Path, report: &mut Report) {
    let good = "/**\n * Says something.\n *\n * @param text what. Not NULL.\n * @param err out, owned. May be NULL.\n\
                \x20* @return `NETLIB_OK`.\n * @threads any\n * @since 0.1.0\n */\n\
                NETLIB_MUST_USE\nnetlib_status netlib_say(const char *text, netlib_error **err);\nenum e {\n    /** Fine. */\n    NETLIB_OK = 0\n};\n";
    let check = |text: &str| {
        let mut inner = Report::default();
        docs::check(&Header::parse(text), &mut inner);
        inner
    };
    let untouched = check(good);
    report.check(
        untouched.failures == ["e: it has no documentation"],
        format!("the documentation gate accepts good documentation: {:?}", untouched.failures),
    );
    for (from, to, complaint) in [
        ("Says something.", "", "it has no documentation"),
        ("Says something.", "Says something", "does not end as a sentence"),
        ("Says something.", "See `netlib_missing`.", "speaks of netlib_missing"),
        (" * @param text what. Not NULL.\n", "", "no @param text"),
        ("@param text what", "@param txet what", "@param txet, which is no parameter"),
        ("@param text what. Not NULL", "@param text what", "parameter text: it says neither"),
        ("what. Not NULL", "what. Not NULL. May be NULL", "parameter text: it says neither"),
        ("@param err out, owned", "@param err the error", "\"out, owned\""),
        (" * @return `NETLIB_OK`.\n", "", "no @return"),
        ("@return `NETLIB_OK`.", "@return something.", "@return names no status"),
        (
            "netlib_status netlib_say",
            "NETLIB_DEPRECATED_NOTE(\"x\")\nnetlib_status netlib_say",
            "the section deprecated",
        ),
        (" * @threads any\n", "", "no @threads"),
        (" * @since 0.1.0\n", "", "no @since"),
        ("/** Fine. */", "", "NETLIB_OK: it has no documentation"),
        ("netlib_status netlib_say", "double netlib_say", "May be NULL: … is returned"),
    ] {
        let mut text = good.replace(from, to);
        if complaint.contains("is returned") {
            text = text.replace("const char *text", "const netlib_h *text") + "/** A handle. */\nstruct netlib_h;\n";
        }
        report.check(text != good, format!("\"{from}\" is a part of the good documentation"));
        finds(report, "docs", &[complaint], |inner| inner.merge(check(&text)));
    }
    finds(report, "docs", &["page: it speaks of netlib_missing"], |inner| {
        docs::check_page(&Header::parse(good), "page", "`netlib_say`, \"netlib_missing\", `NETLIB_OK`", inner);
    });
}

fn header_matrix(env: &Env, scratch: &Path, report: &mut Report) {
    let include = scratch.join("include");
    fs::create_dir_all(&include).expect("target is writable");
    let text = env.header_text();
    let before_the_end = text.rfind("#ifdef __cplusplus").expect("the header ends so");
    for (declaration, complaint) in [
        ("int netlib_old_style();", "strict-prototypes"),
        ("void netlib_keyword(int class);", "g++"),
        ("enum netlib_wide {\n    NETLIB_WIDE = 99999999999\n};", "gcc"),
        ("#define NETLIB_HUGE ((double)1e999)\n", "floating constant exceeds range"),
        ("__attribute__((deprecated)) void netlib_attribute(void);", "has no attributes"),
        ("struct netlib_twice { int x; };", "redefinition"),
    ] {
        // Inside the include guard; the last one stands outside of it.
        let broken = match complaint {
            "redefinition" => format!("{text}{declaration}\n"),
            _ => format!("{}{declaration}\n{}", &text[..before_the_end], &text[before_the_end..]),
        };
        if complaint == "g++" && !has("g++") {
            continue;
        }
        fs::write(include.join("netlib.h"), broken).expect("target is writable");
        finds(report, "matrix", &[complaint], |inner| matrix::check(env, &include, scratch, None, inner));
    }
}

fn exported_symbols(env: &Env, scratch: &Path, report: &mut Report) {
    let committed = ["netlib_here", "netlib_gone"].map(str::to_owned).into();
    let source = scratch.join("stray.c");
    fs::write(&source, "int netlib_here(void);\nint netlib_here(void) { return 0; }\nint stray(void);\nint stray(void) { return 0; }\n")
        .expect("target is writable");
    let (library, object, archive) =
        (scratch.join("libstray.so"), scratch.join("stray.o"), scratch.join("libstray.a"));
    let shared = env.cc().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).run(60);
    report.check(shared.ok, &shared.text);
    let complaints = [
        "exports only netlib_*: stray",
        "lists netlib_gone",
        "the SONAME is [libnetlib.so.",
        "dlclose keeps it mapped",
    ];
    finds(report, "symbols", &complaints, |inner| symbols::shared(env, &library, &committed, inner));
    let made = env.cc().args(["-c", "-o"]).arg(&object).arg(&source).run(60).ok
        && env.command("ar").arg("crs").arg(&archive).arg(&object).run(60).ok;
    report.check(made, "an archive with a stray symbol is made");
    let complaints = ["globals are only netlib_*: stray", "lists netlib_gone"];
    finds(report, "symbols", &complaints, |inner| symbols::archive(env, &archive, &committed, inner));
}

fn null_sweep(env: &Env, scratch: &Path, report: &mut Report) {
    let makers = env.read("c-tests/null_makers.h");
    // Functions as C would have them, each broken in its way.
    let function = |name: &str, second: &str, second_doc: &str| {
        format!(
            "/**\n * Bad.\n *\n * @param text what. Not NULL.\n{second_doc} * @param err out, owned. May be NULL.\n\
             \x20* @return `NETLIB_OK`.\n */\nnetlib_status netlib_bad_{name}(const char *text, {second}netlib_error **err);\n"
        )
    };
    let count = "size_t *count, ";
    let count_doc = " * @param count out. Not NULL.\n";
    let declared = [
        function("crash", "", ""),
        function("accept", "", ""),
        function("hang", "", ""),
        function("nameless", "", ""),
        function("unzeroed", count, count_doc),
    ]
    .concat()
        + "/**\n * Bad.\n *\n * @param error what. May be NULL: -1 is returned.\n * @return a number.\n */\n\
           int32_t netlib_bad_fallback(const netlib_error *error);\n";
    let body = |name: &str, second: &str, body: &str| {
        format!(
            "static netlib_status netlib_bad_{name}(const char *text, {second}netlib_error **err) {{\n    \
             if (err != NULL) *err = NULL;\n    {body}\n    return NETLIB_OK;\n}}\n"
        )
    };
    let complain = |about: &str| {
        format!(
            "if (text == NULL && err != NULL) (void)netlib_error_new(NETLIB_NULL_ARGUMENT, \"{about} must not be NULL\", NULL, err, NULL);\n    \
             if (text == NULL) return NETLIB_NULL_ARGUMENT;"
        )
    };
    let defined = [
        "#define SWEEP_SECONDS 1\n".to_owned(),
        body("crash", "", "if (*(const volatile char *)text == 0) return NETLIB_IO;"),
        body("accept", "", "(void)text;"),
        body("hang", "", "while (text == NULL) sleep(1);"),
        body("nameless", "", &complain("something")),
        body("unzeroed", count, &(complain("text") + "\n    if (count != NULL) *count = 0;")),
        "static int32_t netlib_bad_fallback(const netlib_error *error) { return error == NULL ? 0 : 1; }\n"
            .to_owned(),
    ]
    .concat();
    let complaints = [
        "netlib_bad_crash with text NULL: failed: it crashes",
        "netlib_bad_accept with text NULL: failed: NETLIB_NULL_ARGUMENT is returned",
        "netlib_bad_hang with text NULL: failed: it hangs",
        "netlib_bad_nameless with text NULL: failed: the message names the parameter",
        "netlib_bad_unzeroed with text NULL: failed: count is zeroed",
        "netlib_bad_unzeroed with count NULL: failed: NETLIB_NULL_ARGUMENT is returned",
        "netlib_bad_fallback with error NULL: failed: -1 is returned",
    ];
    finds(report, "nulls", &complaints, |inner| {
        nulls::check(env, &Header::parse(&declared), &makers, &defined, env.library(), scratch, inner);
    });
    for (declared, complaint) in [
        (
            "/**\n * Bad.\n *\n * @param x what. Not NULL.\n */\nvoid netlib_bad(const netlib_strange *x);\n",
            "nothing makes its parameter",
        ),
        ("/**\n * Bad.\n *\n * @param x what.\n */\nvoid netlib_bad(const char *x);\n", "it says neither"),
    ] {
        finds(report, "nulls", &[complaint], |inner| {
            nulls::check(env, &Header::parse(declared), &makers, "", env.library(), scratch, inner);
        });
    }
}

fn status_table(env: &Env, _: &Path, report: &mut Report) {
    let mut rows = statuses::rows();
    rows.remove(7);
    let program = statuses::program(&rows);
    finds(report, "statuses", &["a number that is no status"], |inner| statuses::check(env, &program, inner));
}

/// A function that ends the process instead of catching its panic.
fn panic_guard(env: &Env, scratch: &Path, report: &mut Report) {
    let (source, object, archive) = (scratch.join("abort.c"), scratch.join("abort.o"), scratch.join("libabort.a"));
    fs::write(
        &source,
        "#include <stdlib.h>\nint netlib_self_test_panic(void);\nint netlib_self_test_panic(void) { abort(); }\n",
    )
    .expect("target is writable");
    fs::copy(env.library().join("libnetlib.a"), &archive).expect("target is writable");
    let made = env.cc().args(["-c", "-o"]).arg(&object).arg(&source).run(60).ok
        && env.command("ar").arg("rs").arg(&archive).arg(&object).run(60).ok;
    report.check(made, "a library that aborts is made");
    finds(report, "panic", &["printed no count", "signal: 6"], |inner| panics::check(env, &archive, scratch, inner));
}

fn map_of_the_specification(env: &Env, _: &Path, report: &mut Report) {
    let map = env.read("docs/spec-map.md");
    let header = env.header();
    let row = map.lines().find(|line| line.ends_with("| done |")).expect("something is done");
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
    let with = |names: &str, tests: &str, state: &str| format!("|{} | {names} | {tests} | {state} |", cells[0]);
    for (broken, complaint) in [
        (with("`netlib_nowhere`", "test_basics.c", "done"), "netlib.h has no netlib_nowhere"),
        (with("`netlib_version`", "test_nowhere.c", "done"), "no test test_nowhere.c runs"),
        (with("`netlib_error_tls_alert`", "src/status.rs", "done"), "none of its tests uses netlib_error_tls_alert"),
        (with("`netlib_version`", "test_basics.c:nowhere", "done"), "no test test_basics.c:nowhere runs"),
        (
            with("`netlib_url_path`", "test_url.c:parsing test_url.c:origins", "done"),
            "test_url.c:origins uses none of its names",
        ),
        (with("`netlib_version`", "—", "done"), "without a name or without a test"),
        (with("`netlib_version`", "test_basics.c test_url.c", "done"), "test_url.c uses none of its names"),
        (with("`netlib_version`", "test_basics.c", "almost"), "its state is none of the three"),
        (with("—", "—", "no C meaning: "), "its state is none of the three"),
        (String::new(), "rows in the specification"),
    ] {
        let map = map.replacen(row, &broken, 1);
        finds(report, "spec-map", &[complaint], |inner| spec_map::check(env, &map, &header, None, inner));
    }
    let spec = "# 1. What\n\n| a | b |\n|---|---|\n| another row | b |\n";
    finds(report, "spec-map", &["the specification has \"1 another row\""], |inner| {
        spec_map::check(env, &map, &header, Some(spec), inner);
    });
}

fn named_incidents(env: &Env, _: &Path, report: &mut Report) {
    let table = env.read("docs/incidents.md");
    for row in ["R1", "R15", "R29"] {
        let without: String = table
            .lines()
            .filter(|line| !line.starts_with(&format!("| {row} ")))
            .map(|line| format!("{line}\n"))
            .collect();
        let complaint = format!("docs/incidents.md has no {row}");
        finds(report, "incidents", &[&complaint], |inner| incidents::check(env, &without, inner));
    }
    for (row, complaint) in [
        ("| R1 | x | `c-tests/test_url.c`: `nowhere` |", "R1: no test nowhere runs in c-tests/test_url.c"),
        ("| R1 | x | `src/url/tests.rs`: `fields` |", "R1: no test fields runs in src/url/tests.rs"),
        ("| R1 | x | `src/nowhere.rs`: `a_test` |", "R1: there is no src/nowhere.rs"),
        ("| R1 | x | `parsing` |", "R1: parsing is in no file"),
        ("| R1 | x | — |", "R1: it names no test"),
        ("| R1 |  | `c-tests/test_url.c`: `parsing` |", "R1: it has no rule"),
        ("| R1 | `c-tests/test_url.c`: `parsing` |", "not a row, a rule and tests"),
        ("| R0x | x | `c-tests/test_url.c`: `parsing` |", "R0x: a number, once"),
        ("| R2 | x | `c-tests/test_url.c`: `parsing` |", "R2: a number, once"),
    ] {
        let first = table.lines().find(|line| line.starts_with("| R1 ")).expect("R1 is there");
        let broken = table.replacen(first, row, 1);
        finds(report, "incidents", &[complaint], |inner| incidents::check(env, &broken, inner));
    }
    // A test that nothing calls does not run.
    let uncalled = "static void r1(void) {\n    CHECK(1);\n}\n\nint main(void) {\n    return 0;\n}\n";
    let called = uncalled.replace("    return 0;", "    r1();\n    return 0;");
    report.check(incidents::body_of_test("a.c", uncalled, "r1").is_none(), "a test that is not called does not run");
    report.check(incidents::body_of_test("a.c", &called, "r1").is_some(), "a test that is called runs");
}

fn unguarded_functions(_: &Env, _: &Path, report: &mut Report) {
    let function =
        |body: &str| format!("pub unsafe extern \"C\" fn netlib_bad(x: *const netlib_x) -> i32 {{\n    {body}\n}}\n");
    for body in [
        "guard::value(0, || Ok(1))",
        "const N: i32 = [1; 2][0];\n    static M: i32 = 1;\n    const fn f() -> i32 {\n        { 1 }\n    }\n    read(x, N, |x| x.f(')'))",
        "options::set(x, \"netlib_bad\", |x| x.set(\"(\"));",
    ] {
        let mut inner = Report::default();
        report.check(guards::check("a.rs", &function(body), &mut inner) == 1, "a function is found");
        report.check(inner.failed() == 0, format!("the gate accepts {body}: {:?}", inner.failures));
    }
    for (body, complaint) in [
        ("x.number()", "outside the guard: x.number()"),
        ("let n = x.number();\n    guard::value(0, || Ok(n))", "outside the guard: let n = x.number();"),
        ("guard::value(0, || Ok(1)) + x.number()", "outside the guard: + x.number()"),
        ("guard::value(0, || Ok(1));\n    x.number()", "outside the guard: ;"),
        ("handle::give(x)", "outside the guard: handle::give(x)"),
        ("", "outside the guard: nothing is called"),
    ] {
        finds(report, "guards", &[complaint], |inner| {
            guards::check("a.rs", &function(body), inner);
        });
    }
}

fn unsafe_sources(_: &Env, _: &Path, report: &mut Report) {
    for (file, text, complaint) in [
        ("src/url/mod.rs", "#![allow(unsafe_code)]\n", "may not allow unsafe code: line 1"),
        ("src/url/mod.rs", "fn f() {\n    unsafe { g() }\n}\n", "has no unsafe code: line 2"),
        ("src/url/mod.rs", "use crate::ffi::Handle;\n", "knows nothing of the C ABI: line 1"),
    ] {
        finds(report, "unsafe", &[complaint], |inner| unsafe_code::check(file, text, inner));
    }
}

/// A library that dlclose unmaps.
fn threads_and_dlopen(env: &Env, scratch: &Path, report: &mut Report) {
    let (source, library) = (scratch.join("unmapped.c"), scratch.join("libunmapped.so"));
    let text = "#include <netlib.h>\n\
                netlib_status netlib_error_new(netlib_status s, const char *m, const netlib_error *c, netlib_error **e, netlib_error **err) {\n\
                    (void)m, (void)c, (void)err;\n    *e = NULL;\n    return s == NETLIB_OK ? NETLIB_INVALID_ARGUMENT : NETLIB_OK;\n}\n\
                void netlib_error_free(netlib_error *e) { (void)e; }\n\
                const char *netlib_error_message(const netlib_error *e, size_t *n) { (void)e, (void)n; return \"in a thread\"; }\n";
    fs::write(&source, text).expect("target is writable");
    let built = env.strict_cc().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).run(60);
    report.check(built.ok, &built.text);
    finds(report, "threads", &["stays mapped after dlclose"], |inner| threads::dlopen(env, &library, scratch, inner));
}

fn installed_tree(env: &Env, scratch: &Path, report: &mut Report) {
    let tree = scratch.join("tree");
    fs::create_dir_all(tree.join("lib/pkgconfig")).expect("target is writable");
    fs::write(tree.join("lib/pkgconfig/netlib.pc"), "prefix=@PREFIX@\n").expect("target is writable");
    let complaints = [
        "libnetlib.so is a link",
        "netlib.h is installed",
        "netlib.pc is relocatable",
        "a program in c, shared, does not build",
    ];
    finds(report, "install", &complaints, |inner| install::check(env, &tree, "lib", scratch, inner));
}

fn example_programs(env: &Env, scratch: &Path, report: &mut Report) {
    let example = |name: &str, text: &str| {
        let source = scratch.join(format!("{name}.c"));
        fs::write(&source, text).expect("target is writable");
        Example { name: name.to_owned(), sources: vec![source] }
    };
    let programs = [
        example("sloppy", "int main(void) { int unused; return 0; }\n"),
        example("crashing", "#include <stdlib.h>\nint main(void) { abort(); }\n"),
    ];
    finds(report, "examples", &["sloppy does not compile", "crashing without arguments ends by itself"], |inner| {
        examples::check(env, &programs, scratch, inner);
    });
}

fn c_programs(env: &Env, scratch: &Path, report: &mut Report) {
    finds(report, "c", &["no C test calls netlib_version_number"], |inner| {
        c_tests::untested(&env.header(), "netlib_version();", inner);
    });
    let start = "#include \"harness.h\"\nint main(void) {\n";
    for (name, code, complaint) in [
        ("test_fails", "CHECK(1 == 2); return report(\"x\");", "failed: 1 == 2"),
        ("test_crashes", "CHECK(true); abort();", "printed no count"),
        ("test_empty", "return report(\"x\");", "checked nothing"),
        ("test_silent", "return 0;", "printed no count"),
        ("test_exits", "CHECK(true); (void)report(\"x\"); return 3;", "ended with Some(3)"),
        ("test_warns", "int unused; return report(\"x\");", "does not compile"),
        (
            "test_ignores",
            "netlib_error_new(1, \"\", NULL, NULL, NULL); return report(\"x\");",
            "ignoring return value",
        ),
    ] {
        let source = scratch.join(format!("{name}.c"));
        fs::write(&source, format!("{start}    {code}\n}}\n")).expect("target is writable");
        finds(report, "c", &[complaint], |inner| {
            inner.merge(c_tests::test(env, &source, scratch, env.library(), &[]))
        });
    }
}

fn memory_errors(env: &Env, scratch: &Path, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let start = "#include \"harness.h\"\nint main(void) {\n    netlib_error *error = NULL;\n    \
                 CHECK(netlib_error_new(NETLIB_IO, \"x\", NULL, &error, NULL) == NETLIB_OK);\n";
    for (name, code, complaint) in [
        ("test_leaks", "error = NULL;", "definitely lost"),
        (
            "test_freed",
            "netlib_error_free(error);\n    CHECK(netlib_error_message(error, NULL)[0] != 1);",
            "Invalid read",
        ),
    ] {
        let source = scratch.join(format!("{name}.c"));
        fs::write(&source, format!("{start}    {code}\n    return report(\"x\");\n}}\n"))
            .expect("target is writable");
        finds(report, "valgrind", &[complaint], |inner| {
            inner.merge(c_tests::valgrind_test(env, &source, scratch, env.library()));
        });
    }
}

fn loaded_keys(env: &Env, scratch: &Path, report: &mut Report) {
    let list = scratch.join("list");
    for (row, complaint) in [
        (
            "NETLIB_OK\tfile\tserver.pem\tserver-encrypted.key\t-\t",
            "expected NETLIB_OK, got NETLIB_PASSWORD_REQUIRED",
        ),
        ("NETLIB_WRONG_PASSWORD\tfile\tserver.pem\tserver-encrypted.key\t+secret\t", "got NETLIB_OK"),
        ("NETLIB_WRONG_PASSWORD\tmemory\tserver.pem\tserver-encrypted.key\t+x\tsomething else", "does not open"),
        ("NETLIB_OK\tmemory\tserver.pem\trsa.key\t-\t", "expected NETLIB_OK, got NETLIB_KEY_MISMATCH"),
    ] {
        fs::write(
            &list,
            row.replace("\tserver", "\ttests/certs/server").replace("\trsa", "\ttests/certs/rsa") + "\n",
        )
        .expect("target is writable");
        finds(report, "keys", &[complaint], |inner| keys::load(env, scratch, &list, inner));
    }
    fs::write(&list, "").expect("target is writable");
    finds(report, "keys", &["checked nothing"], |inner| keys::load(env, scratch, &list, inner));
}

/// Three cases, one of them another than urllib3's, and what must not be beside them.
fn recorded_answers(env: &Env, scratch: &Path, report: &mut Report) {
    let folder = scratch.join("vectors");
    let write = |version: &str, text: &str| {
        fs::create_dir_all(folder.join(version)).expect("target is writable");
        fs::write(folder.join(version).join("split_first.txt"), text).expect("target is writable");
    };
    write("urllib3-2.8.0", "> a/b /\n< a b /\n> ab /\n< ab \\e -\n> a?b ?\n< wrong\n");
    write("urllib3-1.26.20", "> a/b /\n< a c /\n> gone /\n< a\n");
    write("differences", "> ab /\n= made-up\n< other\n");
    let complaints = [
        "asked: a?b ?\nurllib3: wrong\nnetlib: a b ?",
        "netlib answers as urllib3 does, where it should not",
        "expected 2, got 1",
        "split_first vectors, urllib3 2.8.0: 2 equal, 0 differ in 0 classes, 1 unexplained",
        "split_first vectors, urllib3 1.26.20: 1 equal, 1 differ in 1 classes, 1 unexplained",
    ];
    finds(report, "vectors", &complaints, |inner| {
        let source = env.root.join("c-tests/vectors/split_first.c");
        let arguments = ["1".as_ref(), folder.as_path()];
        match vectors::program(env, &source, scratch, env.library(), &[], &arguments) {
            Ok(ran) => vectors::take("split_first", &ran, &mut vectors::Hits::new(), inner),
            Err(text) => inner.fail(text),
        }
    });
    let mut document: String =
        (0..21).map(|i| format!("\n## class-{i}\n- netlib: \n- urllib3: \n- Reason: \n")).collect();
    document += "- Tests: c-tests/test_nowhere.c\n";
    let hits = vectors::Hits::from([("class-1".to_owned(), 2), ("met".to_owned(), 3)]);
    let complaints = [
        "21 classes",
        "no case of the vectors is of the class class-0",
        "class-1 has no \"- Tests: \"",
        "the reason of class-2 is neither",
        "class-20 has no test \"c-tests/test_nowhere.c\"",
        "has no class met, of which there are 3 cases",
    ];
    finds(report, "vectors", &complaints, |inner| vectors::check(env, &document, &hits, inner));
}

/// Rows that expect something else than what happens, at netlib's end or at the other.
fn other_implementations(env: &Env, _: &Path, report: &mut Report) {
    let Some(stage) = interop::Stage::new(env, env.library(), "interop-negative", &[], report) else { return };
    for (row, complaint) in mistaken::rows() {
        finds(report, "interop", &[complaint], |inner| stage.play_all(&[row], inner));
    }
    for (refusal, complaint) in mistaken::refusals() {
        finds(report, "interop", &[complaint], |inner| stage.refuse_all(&[refusal], inner));
    }
}
