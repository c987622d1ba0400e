//! Checks that the suites that run C programs report defects of the library and of the programs.

use std::fs;
use std::path::Path;

use super::finds;
use crate::cpp::samples;
use crate::env::{Env, Ran, has};
use crate::model::Header;
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;
use crate::suites::examples::Example;
use crate::suites::printed::{Place, Printed, Run};
use crate::suites::{c_tests, cpp, examples, fleet, netns, nulls, printed, statuses, unit};

pub(super) fn unit_tests(_: &Env, _: &Path, report: &mut Report) {
    let ran = |ok: bool, text: &str| Ran { ok, code: Some(0), out: text.to_owned(), text: text.to_owned() };
    let one_failed = ran(false, "test result: FAILED. 3 passed; 1 failed; 0 ignored;");
    finds(report, "unit", &["1 failed"], |inner| unit::check(&one_failed, inner));
    let nothing_ran = ran(true, "");
    finds(report, "unit", &["cargo test --lib"], |inner| unit::check(&nothing_ran, inner));
}

pub(super) fn null_sweep(env: &Env, scratch: &Path, report: &mut Report) {
    let makers = env.read("c-tests/support/null_makers.h");
    // C functions with the declarations of netlib.h, each with one defect.
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
        + "/**\n * Bad.\n *\n * @return a number; -1 for NULL.\n */\n\
           int32_t netlib_bad_fallback(const netlib_error *error);\n/** An error. **Immutable**. */\nstruct netlib_error;\n";
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
        (
            "/**\n * Bad.\n *\n * @param x Not NULL. May be NULL.\n */\nvoid netlib_bad(const char *x);\n",
            "it says \"Not NULL\" and \"May be NULL\"",
        ),
    ] {
        finds(report, "nulls", &[complaint], |inner| {
            nulls::check(env, &Header::parse(declared), &makers, "", env.library(), scratch, inner);
        });
    }
}

pub(super) fn status_table(env: &Env, _: &Path, report: &mut Report) {
    let mut rows = statuses::rows();
    rows.remove(7);
    let program = statuses::program(&rows);
    finds(report, "statuses", &["a number that is no status"], |inner| statuses::check(env, &program, inner));
}

pub(super) fn example_programs(env: &Env, scratch: &Path, report: &mut Report) {
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
    if has("valgrind") {
        let leaking =
            "#include <stdlib.h>\nvoid *volatile lost;\nint main(void) { lost = malloc(1); lost = NULL; }\n";
        let programs = [example("leaking", leaking)];
        finds(report, "examples-leaks", &["definitely lost"], |inner| {
            examples::check_leaks(env, &programs, scratch, inner);
        });
    }
    for (source, complaint) in [
        ("ssize_t n = recv (fd, buf, 1, 0);", "examples-c/bad.c has \"recv\""),
        ("puts(\"\\\"//\"); if (write(fd, buf, 1) < 0) return;", "examples-c/bad.c has \"write\""),
        ("puts(\"GET / HTTP/1.1\");", "examples-c/bad.c has \"HTTP/1.\""),
        ("char c = '\"'; puts(\"\\r\\n\");", "examples-c/bad.c has \"\\\\r\\\\n\""),
        ("int main(void) { return 0; }", "examples-c/epoll/options.c has no \"\\\\r\\\\n\": delete the exception"),
    ] {
        let files = [("bad.c".to_owned(), source.to_owned())];
        finds(report, "examples", &[complaint], |inner| examples::sources::check(&files, inner));
    }
    // A comment, a member, another function and a variable with one of the names are accepted.
    let source = "// send(1)\n/* HTTP/1.1 \"\\r\\n\" */ x->read(1); y.write(2); netlib_stream_read(); int send = 1;";
    let mut inner = Report::default();
    examples::sources::check(&[("bad.c".to_owned(), source.to_owned())], &mut inner);
    let wrong = inner.failures.iter().find(|failure| failure.contains("bad.c"));
    report.check(wrong.is_none(), format!("the suite \"examples\" refused an accepted source: {wrong:?}"));
}

/// Checks programs of a document that lose a result, leak, use freed memory, and do not report failures.
pub(super) fn printed_programs(env: &Env, scratch: &Path, report: &mut Report) {
    let start = "#include <netlib.h>\n#include <stdio.h>\n#include <stdlib.h>\n";
    let program = |text: &str| Printed {
        page: "page.md".to_owned(),
        number: 1,
        language: "c",
        text: [start, "int main(void) {\n    ", text, "\n}\n"].concat(),
    };
    let run = |code, printed, error| Run {
        page: "page.md",
        language: "c",
        number: 1,
        edits: &[],
        arguments: "",
        code,
        printed,
        error,
    };
    let hello = "fwrite(\"hello\", 1, 5, stdout); return 0;";
    let leaks = "netlib_error *error = NULL; (void)!netlib_error_new(NETLIB_IO, \"x\", NULL, &error, NULL);";
    let freed =
        "puts(netlib_error_message(error, NULL)); netlib_error_free(error), puts(netlib_error_message(error, NULL));";
    let under_valgrind: Vec<&str> = std::iter::once("valgrind").chain(VALGRIND.iter().copied()).collect();
    let complaints: &[(&[Printed], &[Run], bool, &str)] = &[
        (&[program(hello)], &[], false, "program 1 of page.md in c has a row in RUNS"),
        (&[], &[run(0, "hello", "")], false, "page.md has no program 1 in c"),
        (&[program("int unused; return 0;")], &[run(0, "", "")], false, "does not compile"),
        (&[program("return 1;")], &[run(0, "", "")], false, "ends with 0 and prints"),
        (&[program("puts(\"hell\"); return 0;")], &[run(0, "hello\n", "")], false, "ends with 0 and prints"),
        (&[program("return 1;")], &[run(1, "", "refused")], false, "ends with 1 and prints"),
        (
            &[program("puts(\"usage: x\"); return 2;")],
            &[run(2, "usage: x\n", "")],
            false,
            "prints its usage on stderr",
        ),
        (&[program(hello)], &[run(0, "hello", "")], false, "fails if it cannot write: Some(0)"),
        (
            &[program(hello)],
            &[Run { edits: &[("goodbye", "bye")], ..run(0, "hello", "") }],
            false,
            "program 1 of page.md in c contains \"goodbye\"",
        ),
        (&[program(&[leaks, "return 0;"].concat())], &[run(0, "", "")], true, "definitely lost"),
        (&[program(&[leaks, freed, "return 0;"].concat())], &[run(0, "x\n…", "")], true, "Invalid read"),
    ];
    for (programs, runs, needs_valgrind, complaint) in complaints {
        if *needs_valgrind && !has("valgrind") {
            continue;
        }
        let before = if *needs_valgrind { &under_valgrind[..] } else { &[] };
        let place = Place { scratch, before, library: env.development_library() };
        finds(report, "printed", &[complaint], |inner| {
            printed::check(env, &place, programs, runs, &str::to_owned, inner);
        });
    }
}

pub(super) fn c_programs(env: &Env, scratch: &Path, report: &mut Report) {
    finds(report, "c", &["no C test calls netlib_version_number"], |inner| {
        c_tests::untested(&env.header(), "netlib_version();", inner);
    });
    let start = "#include \"harness.h\"\nint main(void) {\n";
    let macros = scratch.join("checking_macros.h");
    let list = crate::description::statuses::checking_macros(&env.header()).replace("NETLIB_NULL_ARGUMENT, ", "");
    fs::write(&macros, list).expect("target is writable");
    for (name, code, complaint) in [
        (
            "test_undescribed",
            "CHECK_INT(NETLIB_NULL_ARGUMENT, netlib_limit_check(NULL, NULL)); return report(\"x\");",
            "netlib_limit_check returned NETLIB_NULL_ARGUMENT, which its comment does not list",
        ),
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
            inner.merge(c_tests::test(env, &source, scratch, env.library(), &[], Some(&macros)))
        });
    }
}

/// Reports a program that does not end by itself.
pub(super) fn endless_program(env: &Env, _: &Path, report: &mut Report) {
    let killed = "sleep was killed, because it was still running after 1 s";
    finds(report, "c", &["test_hangs printed no count", killed], |inner| {
        c_tests::take_counts("test_hangs", &env.command("sleep").arg("60").run(1), inner);
    });
}

/// Expects another C function than the called one, and C functions that do more than the C++ function.
pub(super) fn cpp_calls(env: &Env, scratch: &Path, report: &mut Report) {
    if !has("g++") {
        return;
    }
    let caller = samples::caller(&env.header());
    for (from, to, complaint) in [
        ("expect(\"netlib_url_host\"", "expect(\"netlib_url_hostname\"", "netlib_url_hostname is not called"),
        (
            "url_object.host()",
            "(url_object.port(), url_object.host())",
            "netlib_url_host is not called, or not first",
        ),
        ("expect(\"netlib_url_host\"", "if (false) expect(\"netlib_url_host\"", "each C function is called"),
    ] {
        let wrong = caller.replacen(from, to, 1);
        assert_ne!(wrong, caller, "the caller contains \"{from}\"");
        finds(report, "cpp", &[complaint], |inner| cpp::every_function_makes_one_call(env, &wrong, scratch, inner));
    }
    let pairs = env.read("cpp-tests/overhead.cpp");
    let slower = pairs.replacen("{ return url.port_or_default(); }", "{ return url.port_or_default() + 1; }", 1);
    assert_ne!(slower, pairs, "overhead.cpp has the function");
    finds(report, "cpp", &["g++: number"], |inner| {
        cpp::calls_compile_to_the_code_of_c_calls(env, &slower, scratch, inner)
    });
}

/// Runs programs of the suite `fleet` that fail, do not compile and print no counts.
pub(super) fn fleets(env: &Env, scratch: &Path, report: &mut Report) {
    for (name, text, complaint) in [
        ("fleet_fails", "#include \"harness.h\"\nint main(void) { CHECK(1 > 2); return report(\"x\"); }\n", "1 > 2"),
        ("fleet_warns", "int main(void) { int unused; return 0; }\n", "does not compile"),
        ("fleet_silent", "int main(void) { return 0; }\n", "printed no count"),
    ] {
        let source = scratch.join(format!("{name}.c"));
        fs::write(&source, text).expect("target is writable");
        finds(report, "fleet", &[complaint], |inner| fleet::run_program(env, &source, &[], scratch, inner));
    }
}

/// Runs netns scenarios with wrong expectations, and programs that do not report skipped scenarios as they must.
pub(super) fn networks(env: &Env, scratch: &Path, report: &mut Report) {
    let source = |name: &str, text: &str| {
        let source = scratch.join(format!("{name}.c"));
        fs::write(&source, text).expect("target is writable");
        source
    };
    let check = |name: &str, text: &str, inner: &mut Report| {
        netns::check(env, &[source(name, text)], scratch, env.library(), inner);
    };
    let mut skipped = Report::default();
    check(
        "netns_skips",
        "#include <stdio.h>\nint main(void) { puts(\"skipped: no x\"); return 77; }\n",
        &mut skipped,
    );
    let said = skipped.notes == ["skipped: netns_skips: no x"];
    report.check(said && skipped.passed + skipped.failed() == 0, "what is skipped is said, and not counted");
    for (name, text, complaint) in [
        ("netns_reasonless", "int main(void) { return 77; }\n", "printed no count"),
        (
            "netns_passes",
            "#include <stdio.h>\nint main(void) { puts(\"skipped: no x\"); return 0; }\n",
            "printed no count",
        ),
        ("netns_warns", "int main(void) { int unused; return 77; }\n", "does not compile"),
    ] {
        finds(report, "netns", &[complaint], |inner| check(name, text, inner));
    }

    let scenario = |name: &str, body: &str| {
        let start = "#define _GNU_SOURCE\n#include \"netns/scenario.h\"\n\
             static void run(int tun, enum api api) {\n    (void)tun, (void)api;\n    ";
        let end = "\n}\nint main(void) {\n    static const struct scenario scenarios[] = {{\"one\", run, 1 << RUN, 0, NULL, NULL}};\n    \
             return RUN_SCENARIOS(\"x\", scenarios);\n}\n";
        source(name, &[start, body, end].concat())
    };
    // The scenario expects an answer from a silent host, and a wrong order of packets.
    let mistaken = "static const struct host hosts[] = {{.address = \"2001:db8::a\", .answer = SILENT},\n        \
             {.address = \"203.0.113.1\", .answer = ACCEPTS}};\n    \
         static const struct attempt expected[] = {{\"2001:db8::a\", NETLIB_OK, 0, 0.0, 0.0}, \
             {\"203.0.113.1\", NETLIB_CLOSED, 0, 2.0, 2.0}};\n    \
         struct peer peer;\n    START_PEER(&peer, tun, hosts);\n    \
         netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);\n    \
         struct outcome outcome = connect_to(api, \"name.test\", options, NULL);\n    \
         CHECK_ENDED(NETLIB_OK, outcome);\n    CHECK_CONNECTED(outcome.fd, \"2001:db8::a\");\n    \
         CHECK_ATTEMPTS(outcome.connect, expected);\n    CHECK_GAP(&peer, 0, 1, 0.0);\n    \
         end(&outcome);\n    netlib_connect_options_free(options);\n    stop_peer(&peer);";
    for (name, body, complaints) in [
        (
            "netns_mistaken",
            mistaken,
            &[
                "the address that is connected to",
                "the winner",
                "the duration",
                "the time between packets",
                "in scenario \"one (run)\"",
            ][..],
        ),
        ("netns_crashes", "CHECK(true);\n    abort();", &["scenario \"one (run)\" crashed or hung"]),
        ("netns_hangs", "CHECK(true);\n    for (alarm(1);;) pause();", &["scenario \"one (run)\" crashed or hung"]),
        ("netns_empty", "", &["a scenario has checks"]),
    ] {
        let mut inner = Report::default();
        netns::check(env, &[scenario(name, body)], scratch, env.library(), &mut inner);
        if let Some(reason) = inner.notes.iter().find_map(|note| note.strip_prefix("skipped: ")) {
            return report.skip(reason);
        }
        finds(report, "netns", complaints, |report| report.merge(inner));
    }
}

pub(super) fn memory_errors(env: &Env, scratch: &Path, report: &mut Report) {
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
