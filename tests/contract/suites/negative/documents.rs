//! Checks that the suites that read text report errors in the header, its documentation, the tables, links and sources.

use std::collections::BTreeMap;
use std::path::Path;

use super::finds;
use crate::data::Table;
use crate::env::{Env, Ran, has};
use crate::manual::File;
use crate::model::Header;
use crate::pictures;
use crate::report::Report;
use crate::suites::named_tests::body_of_test;
use crate::suites::{
    advisories, bindings, docs, doxygen, generated, guards, imports, incidents, language_pages, languages, links,
    man, packaging, platforms, scripts, site, spec_map, storm, unsafe_code,
};

pub(super) fn header_drift(env: &Env, _: &Path, report: &mut Report) {
    let generated = env.header_text();
    let committed = generated.replace("netlib_version(void)", "netlib_version(int32_t)");
    finds(report, "header", &["make header", "committed \"const char *netlib_version(int32_t);\""], |inner| {
        generated::drift("include/netlib.h", &committed, &generated, inner);
    });
}

pub(super) fn defective_man_pages(env: &Env, scratch: &Path, report: &mut Report) {
    let path = "man3/netlib_version.3";
    let good = ".TH NETLIB_VERSION 3 2000-01-01 netlib netlib\n.SH NAME\nnetlib_version \\- a version\n.SH SYNOPSIS\nx\n\
                .SH \"DESCRIPTION\"\nx\n.SH \"RETURN VALUE\"\nx\n.SH \"THREADS\"\nx\n.SH SEE ALSO\n\\fBnetlib_version\\fR(3)\n";
    for (from, to, complaint) in [
        ("", "", ""),
        (".SH SYNOPSIS\n", ".SH USAGE\n", "no .SH SYNOPSIS at its place"),
        ("netlib_version\\fR", "netlib_release\\fR", "it refers to netlib_release(3), which is no page"),
        ("\\fR(3)", "\\fR(7)", "it refers to netlib_version(7), which is no page"),
        (".SH NAME\n", ".NAME\n", "skipping unknown macro"),
    ] {
        let text = good.replacen(from, to, 1);
        let pages = BTreeMap::from([(path.to_owned(), File::Text(text.clone()))]);
        if complaint.is_empty() {
            let untouched = man::problems(&pages, path, &text);
            report.check(untouched.is_empty(), format!("a complete man page: {untouched:?}"));
        } else if complaint.contains("macro") {
            if has("mandoc") {
                finds(report, "man", &[complaint], |inner| man::lint(env, &pages, scratch, inner));
            }
        } else {
            finds(report, "man", &[complaint], |inner| {
                inner.problems(path, man::problems(&pages, path, &text));
            });
        }
    }
}

pub(super) fn outdated_recipes(_: &Env, _: &Path, report: &mut Report) {
    let release = packaging::Release { version: "0.2.1".to_owned(), abi: "0.2".to_owned(), rust: "1.88".to_owned() };
    for (text, problems) in [
        ("libnetlib.so.0.2 libnetlib.so.0.2.1, libnetlib0.2 NETLIB_0.2 netlib-0.2.1.tar.gz libnetlib-dev", 0),
        ("usr/lib/*/libnetlib.so.0.1*", 1),
        ("Package: libnetlib0.1", 1),
        (" netlib_version@NETLIB_0.1 0.1.0", 1),
        ("netlib-0.2.0.tar.gz netlib-0.2.tar.gz", 2),
    ] {
        let found = packaging::outdated(text, &release);
        report.check(found.len() == problems, format!("{problems} outdated names in {text:?}: {found:?}"));
    }
    for (text, problems) in [
        ("\"https://netlib.invalid/netlib-0.2.1.tar.gz\" https://netlib.invalid", 0),
        ("https://netlib.invalid.example/", 1),
        ("url=http://netlib.invalid/", 1),
        ("git+https://example.com/netlib", 1),
    ] {
        let found = packaging::foreign_urls(text);
        report.check(found.len() == problems, format!("{problems} foreign URLs in {text:?}: {found:?}"));
    }
    let files = ["usr/include/netlib.h", "usr/lib/x/libnetlib.so.0.2.1"].map(Into::into);
    for (patterns, problems) in [
        (["usr/include", "usr/lib/*/libnetlib.so.0.2*"], ""),
        (["usr/include/*.h", "usr/lib/*/libnetlib.so.0.1*"], "usr/lib/x/libnetlib.so.0.2.1 is in no list"),
        (["usr/lib/x/", "usr/include/netlib.hpp"], "usr/include/netlib.hpp is no installed file"),
    ] {
        let found = packaging::differences(&files, &patterns.map(str::to_owned)).join("\n");
        let is_right = if problems.is_empty() { found.is_empty() } else { found.contains(problems) };
        report.check(is_right, format!("the file lists {patterns:?}: {found}"));
    }
    let old = "libnetlib.so.0.2 libnetlib0.2 #MINVER#\n netlib_a@NETLIB_0.2 0.2.0\n netlib_gone@NETLIB_0.2 0.2.0\n";
    let written = packaging::write_symbols(old, ["netlib_b", "netlib_a"].into_iter(), &release);
    let expected = "libnetlib.so.0.2 libnetlib0.2 #MINVER#\n* Build-Depends-Package: libnetlib-dev\n \
                    NETLIB_0.2@NETLIB_0.2 0.2.1\n netlib_a@NETLIB_0.2 0.2.0\n netlib_b@NETLIB_0.2 0.2.1\n";
    report.check(written == expected, format!("a symbols file keeps the versions of its functions:\n{written}"));
}

pub(super) fn pages_of_languages(_: &Env, _: &Path, report: &mut Report) {
    let note = language_pages::NOT_RUN;
    for (name, text, complaint) in [
        ("perl", "# Perl\n\nText\n", "has a block \"```perl\""),
        ("perl", &format!("# Perl\n\n{note}\n\n```perl\nexit\n```\n"), "and only then"),
        ("cobol", "# COBOL\n\nText\n\n```cobol\nSTOP RUN.\n```\n", "and only then"),
    ] {
        finds(report, "language-pages", &[complaint], |inner| language_pages::check_page(name, text, inner));
    }
    let ran = |code, text: &str| Ran { ok: code == 0, code: Some(code), out: String::new(), text: text.to_owned() };
    for (printed, expected) in [
        (ran(0, "hell\n"), (true, "hello\n")),
        (ran(1, "hello\n"), (true, "hello\n")),
        (ran(0, "status 1\n"), (false, "status 1")),
        (ran(1, "status 2\n"), (false, "status 1")),
    ] {
        finds(report, "language-pages", &["it printed"], |inner| {
            language_pages::compare("perl", None, &printed, expected, inner);
        });
    }
}

pub(super) fn dead_links_of_the_site(_: &Env, scratch: &Path, report: &mut Report) {
    let directory = scratch.join("site");
    std::fs::create_dir_all(directory.join("api")).expect("target is writable");
    std::fs::write(directory.join("api/a.html"), "<h1 id=\"name\">A</h1>").expect("target is writable");
    for (link, is_dead) in [
        ("api/a.html", false),
        ("api/a.html#name", false),
        ("api/../api/a.html?x", false),
        ("https://example.com/", false),
        ("a.html", true),
        ("api/a.html#title", true),
    ] {
        std::fs::write(directory.join("index.html"), format!("<a href=\"{link}\">x</a>"))
            .expect("target is writable");
        let found = site::dead_links(&directory);
        let expected = format!("index.html has the dead link \"{link}\"");
        let is_right = if is_dead { found == [expected] } else { found.is_empty() };
        report.check(is_right, format!("the suite \"site\" reports the link {link} if it is dead: {found:?}"));
    }
}

pub(super) fn undocumented_for_doxygen(env: &Env, scratch: &Path, report: &mut Report) {
    if !has("doxygen") {
        return;
    }
    let good = env.header_text();
    for (from, to, complaint) in [
        (" * @blocks ", " * @waits ", "Found unknown command '@waits'"),
        (
            " * @param status any number.",
            " * @param code any number.",
            "argument 'code' of command @param is not found",
        ),
    ] {
        let header = scratch.join("netlib.h");
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "netlib.h contains \"{from}\"");
        std::fs::write(&header, bad).expect("target is writable");
        finds(report, "doxygen", &[complaint], |inner| doxygen::check(env, &header, scratch, inner));
    }
}

pub(super) fn declarations_for_bindings(env: &Env, scratch: &Path, report: &mut Report) {
    let good = env.read("include/netlib.cdef.h");
    for (from, to, complaint) in [
        ("int32_t netlib_version_number(void);\n", "", "netlib.h declares \"int32_t netlib_version_number(void)\""),
        (
            "netlib_version(void)",
            "netlib_release(void)",
            "netlib.h does not declare \"const char*netlib_release(void)\"",
        ),
        ("NETLIB_CERT_NONE = 0", "NETLIB_CERT_NONE = 7", "NETLIB_CERT_NONE=7"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "netlib.cdef.h contains \"{from}\"");
        finds(report, "bindings", &[complaint], |inner| {
            bindings::compare_with_preprocessor(env, &bad, scratch, inner)
        });
    }
}

pub(super) fn incomplete_descriptions(_: &Env, _: &Path, report: &mut Report) {
    let good = "/* ====\n * x: Things.\n * ==== */\n\
                enum netlib_status_code NETLIB_INT32 {\n    /** Ended. */\n    NETLIB_CANCELLED = 500,\n    /** Late. */\n    NETLIB_DEADLINE_EXCEEDED = 501,\n    /** Failed. */\n    NETLIB_CALLBACK_FAILED = 304\n};\n\
                /** A thing. **Immutable**. */\nstruct netlib_x;\n\
                /** A limit. **Thread-safe**. */\nstruct netlib_limit;\n\
                /** Decides.\n * @return 0 on success.\n * @called-by `netlib_x_run`. */\ntypedef int32_t (*netlib_x_fn)(void *ctx);\n\
                /** Runs.\n * @param on 0 or 1.\n * @return `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_CALLBACK_FAILED`. */\n\
                netlib_status netlib_x_run(netlib_x *x, const void *data, size_t len, int32_t on, const netlib_limit *limit, netlib_error **err);\n\
                /** Returns 1 if old, else 0. */\nint32_t netlib_x_is_old(const netlib_x *x);\n";
    let check = |text: &str| {
        let mut inner = Report::default();
        bindings::describes(&Header::parse(text), &mut inner);
        inner
    };
    let untouched = check(good);
    report.check(untouched.failures.is_empty(), format!("a complete description: {:?}", untouched.failures));
    for (from, to, complaint) in [
        ("/* ====\n * x: Things.\n * ==== */\n", "", "a function outside the sections"),
        ("const void *data, ", "", "parameter len: the length belongs to no pointer"),
        ("size_t len, ", "", "parameter data: the pointer has no length"),
        ("size_t len, ", "size_t len, size_t size, ", "parameter data: the pointer has several lengths"),
        ("int32_t on", "netlib_y on", "parameter on: the kind of netlib_y is unknown"),
        ("@param on 0 or 1", "@param on must be 0 or 1", "the text of a truth value begins with \"0 or 1\""),
        ("Returns 1 if old", "Returns the age", "the text of a truth value begins with \"Returns 1 if\""),
        ("`NETLIB_CANCELLED`; ", "", "a function with a limit returns NETLIB_CANCELLED"),
        ("const netlib_limit *limit, ", "", "a function that a limit ends has the tag @blocks"),
        ("@called-by `netlib_x_run`", "@called-by none", "no callback names the function in its @called-by"),
        ("@called-by `netlib_x_run`", "@called-by `netlib_y`", "@called-by names netlib_y, which is no function"),
        ("\n * @called-by `netlib_x_run`.", "", "no @called-by"),
        ("**Immutable**", "Immutable", "no thread tag"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "the header contains \"{from}\"");
        finds(report, "bindings", &[complaint], |inner| inner.merge(check(&bad)));
    }
}

pub(super) fn documentation(_: &Env, _: &Path, report: &mut Report) {
    let good = "/**\n * Says something.\n *\n * @param text what.\n * @param err its offset.\n\
                \x20* @return `NETLIB_OK`.\n * @threads one caller\n * @since 0.2.0\n */\n\
                NETLIB_MUST_USE\nnetlib_status netlib_say(const char *text, netlib_error **err);\nenum e {\n    /** Fine. */\n    NETLIB_OK = 0\n};\n";
    let check = |text: &str| {
        let mut inner = Report::default();
        docs::check(&Header::parse(text), &mut inner);
        inner
    };
    let untouched = check(good);
    report.check(
        untouched.failures == ["e: it has no documentation"],
        format!("the suite `docs` accepts good documentation: {:?}", untouched.failures),
    );
    for (from, to, complaint) in [
        ("Says something.", "", "it has no documentation"),
        ("Says something.", "Says something", "does not end as a sentence"),
        ("Says something.", "See `netlib_missing`.", "names netlib_missing"),
        (" * @param text what.\n", "", "nothing is said of parameter text"),
        ("@param text what.", "@param text", "an empty @param text"),
        ("@param text what.", "@param text Not NULL.", "@param text repeats the convention"),
        ("@param text what", "@param txet what", "@param txet, which is no parameter"),
        ("@param text what.", "@param text Not NULL. May be NULL", "parameter text: it says \"Not NULL\" and"),
        ("const char *text", "int32_t *text", "it begins with \"out\" or \"in/out\""),
        (" * @return `NETLIB_OK`.\n", "", "no @return"),
        ("@return `NETLIB_OK`.", "@return something.", "@return names no status"),
        (
            "netlib_status netlib_say",
            "NETLIB_DEPRECATED_NOTE(\"x\")\nnetlib_status netlib_say",
            "the chapter \"Old names",
        ),
        ("Says something.", "Says something, as Python.", "an option without its default"),
        ("Says something.", "Says something. Default: none.", "an option without its nearest name"),
        ("netlib_say(", "netlib_connect_options_say(", "a setting that says nothing of its default"),
        ("netlib_say(", "netlib_x_options_set_say(", "a setting that says nothing of its default"),
        ("@threads one caller", "@threads any", "@threads is for what"),
        ("@since 0.2.0", "@since 0.1.0", "@since is a version later"),
        ("@since 0.2.0", "@since 2", "@since is a version later"),
        ("/** Fine. */", "", "NETLIB_OK: it has no documentation"),
        ("enum e {", "/** Ten. */\n#define NETLIB_TEN (10)\nenum e {", "NETLIB_TEN: a constant that fits an int"),
        ("text what.", "text what: one of `enum e`.", "text: one value of `enum e` has the type of that enum"),
        ("`NETLIB_OK`.", "`NETLIB_OK`, one of `enum e`.", "the result: one value of `enum e`"),
        ("const char *text", "bool *text", "text: a truth value is int32_t"),
        ("NETLIB_MUST_USE\n", "", "NETLIB_MUST_USE is of handles to free"),
        ("Says something.", "Says `POLLIN`.", "it uses names of <poll.h>"),
        ("netlib_say(", "netlib_tls_engine_shutdown(", "NETLIB_MUST_USE is of handles to free"),
    ] {
        let mut text = good.replace(from, to);
        if complaint.starts_with("an option") {
            text = text.replace("netlib_say(", "netlib_tls_options_say(");
        }
        report.check(text != good, format!("\"{from}\" is a part of the good documentation"));
        finds(report, "docs", &[complaint], |inner| inner.merge(check(&text)));
    }
    let options = "/** Options. **One call at a time**. */\nstruct netlib_x_options;\n";
    finds(report, "docs", &["no _new", "no _clone", "no _check", "no _free"], |inner| inner.merge(check(options)));
    finds(report, "docs", &["netlib.h: line 2 has 121 columns"], |inner| {
        docs::check_width(&format!("{}\n{}\n", "…".repeat(120), "x".repeat(121)), inner);
    });
    finds(report, "docs", &["page: it names netlib_missing"], |inner| {
        docs::check_names(&Header::parse(good), "page", "`netlib_say`, \"netlib_missing\", `NETLIB_OK`", inner);
    });
}

/// Returns a table with its first row replaced.
fn with_first(table: &str, row: &str) -> Table {
    let at = table.lines().position(|line| !line.starts_with('#')).expect("a table has columns") + 1;
    let mut lines: Vec<&str> = table.lines().collect();
    lines[at] = row;
    Table::parse("a table", &lines.join("\n"))
}

pub(super) fn map_of_the_specification(env: &Env, _: &Path, report: &mut Report) {
    let table = env.read("tests/contract/data/specification.tsv");
    let header = env.header();
    for (row, complaint) in [
        ("1\tx\tnetlib_nowhere\ttest_basics.c", "netlib.h has no netlib_nowhere"),
        ("1\tx\tnetlib_version\ttest_nowhere.c", "no test test_nowhere.c runs"),
        ("1\tx\tnetlib_error_tls_alert\tsrc/status.rs", "none of its tests uses netlib_error_tls_alert"),
        ("1\tx\tnetlib_version\ttest_basics.c:nowhere", "no test test_basics.c:nowhere runs"),
        (
            "1\tx\tnetlib_url_path\ttest_url.c:parse_url_splits_a_url_into_its_components \
             test_url.c:same_origin_compares_scheme_host_and_port",
            "test_url.c:same_origin_compares_scheme_host_and_port uses none of its names",
        ),
        ("1\tx\tnetlib_version\ttest_basics.c test_url.c", "test_url.c uses none of its names"),
        ("1\tx\t-\tno C meaning", "neither names nor"),
    ] {
        finds(report, "spec-map", &[complaint], |inner| {
            spec_map::check(env, &with_first(&table, row), &header, inner)
        });
    }
    let mut shorter = Table::parse("a table", &table);
    shorter.rows.pop();
    finds(report, "spec-map", &["172 rows instead of 173"], |inner| spec_map::check(env, &shorter, &header, inner));
}

pub(super) fn named_features(env: &Env, _: &Path, report: &mut Report) {
    let table = env.read("tests/contract/data/features.tsv");
    for (row, complaint) in [
        ("Types\tgo\tyes\tno such test", "Types: go: yes: no test has the text \"no such test\""),
        ("Types\tgo\tmaybe\tx", "Types: go: maybe: "),
        ("Types\tperl\tno\tx", "Types: [\"perl\", \"java\""),
    ] {
        let changed = with_first(&table, row);
        finds(report, "languages", &[complaint], |inner| languages::check_features(env, &changed, inner));
    }
}

pub(super) fn named_incidents(env: &Env, _: &Path, report: &mut Report) {
    let table = env.read("tests/contract/data/incidents.tsv");
    for (row, complaint) in [
        ("R1\tx\ttest_url.c:nowhere", "R1: no test test_url.c:nowhere runs"),
        ("R1\tx\tsrc/url/tests.rs:fields", "R1: no test src/url/tests.rs:fields runs"),
        ("R1\tx\tsrc/nowhere.rs:a_test", "R1: no test src/nowhere.rs:a_test runs"),
        ("R2\tx\ttest_url.c:parse_url_splits_a_url_into_its_components", "incident R2 stands where R1 belongs"),
    ] {
        finds(report, "incidents", &[complaint], |inner| incidents::check(env, &with_first(&table, row), inner));
    }
    let mut shorter = Table::parse("a table", &table);
    shorter.rows.pop();
    finds(report, "incidents", &["only 53 of 54 incidents"], |inner| incidents::check(env, &shorter, inner));
    // A C test function that is never called does not count as a test that runs.
    let uncalled = "static void r1(void) {\n    CHECK(1);\n}\n\nint main(void) {\n    return 0;\n}\n";
    let called = uncalled.replace("    return 0;", "    r1();\n    return 0;");
    report.check(body_of_test("a.c", uncalled, "r1").is_none(), "a test that is not called does not run");
    report.check(body_of_test("a.c", &called, "r1").is_some(), "a test that is called runs");
    let transcript = uncalled.replace("r1(void)", "r1(int tun)");
    for (row, runs) in
        [("{\"r1\", r1, RUN},", true), ("{\"a r1, r1\", r2, RUN},", false), ("/* {\"r1\", r1}, */", false)]
    {
        let program = transcript
            .replace("    return 0;", &format!("    const struct test_case cases[] = {{\n        {row}\n    }};"));
        let found = body_of_test("a.c", &program, "r1").is_some();
        report.check(found == runs, format!("whether a test runs that stands in the row {row}: {runs}"));
    }
}

pub(super) fn dead_links(env: &Env, _: &Path, report: &mut Report) {
    for (text, complaint) in [
        ("[a](../nowhere.md#b)", "docs/README.md: the link ../nowhere.md leads nowhere"),
        ("see docs/nowhere.md.", "there is no docs/nowhere.md"),
        ("![](pictures/race.svg)", "docs/README.md: a picture has no alternative text"),
    ] {
        finds(report, "links", &[complaint], |inner| links::check(env, "docs/README.md", text, inner));
    }
    let mut inner = Report::default();
    links::check(env, "docs/README.md", "[a](../README.md#b) [b](https://example.com/) [c](#d) (e)", &mut inner);
    report.check(inner.failed() == 0, format!("the suite links accepts these links: {:?}", inner.failures));
}

pub(super) fn scripts_that_ignore_arguments(env: &Env, scratch: &Path, report: &mut Report) {
    let complaints = ["--help prints", "--no-such-option prints", "no-such-argument prints"];
    let script = scratch.join("ignorant");
    std::fs::write(&script, "#!/bin/sh\n# usage: scripts/ignorant\nexit 0\n").expect("target is writable");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("target is writable");
    finds(report, "scripts", &complaints, |inner| scripts::check(env, &script, inner));
    finds(report, "scripts", &["does not set LC_ALL=C"], |inner| {
        scripts::check_locale("x", b"sed 's/[a-z]//'", inner);
    });
}

pub(super) fn platforms(_: &Env, _: &Path, report: &mut Report) {
    let page = "| target | state |\n|---|---|\n| `a-b` | tested |\n| `c-d` | type-checked |\n";
    for (script, complaint) in [
        ("#!/bin/sh\ntargets='a-b'\n", "scripts/cross has the targets [\"a-b\"]"),
        ("#!/bin/sh\ntargets='a-b e-f'\n", "has rows for [\"a-b\", \"c-d\"]"),
        ("#!/bin/sh\n", "scripts/cross assigns its targets to the variable targets"),
    ] {
        finds(report, "platforms", &[complaint], |inner| platforms::check(script, page, inner));
    }
    let mut inner = Report::default();
    platforms::check("#!/bin/sh\ntargets='a-b\n    c-d'\n", page, &mut inner);
    report.check(inner.failed() == 0, format!("the suite platforms accepts equal lists: {:?}", inner.failures));
}

/// The recorded output of the demo differs from a new one in a decision, but not in ports, times and random waits.
pub(super) fn recorded_demo(env: &Env, _: &Path, report: &mut Report) {
    let recorded = env.read(pictures::RECORDING);
    for (from, to, differs) in [
        ("build", "", false),
        ("waits 0.", "waits 9.1e-05", false),
        ("0.000 s", "0.123 s", false),
        ("localhost:4", "localhost:3", false),
        ("waits 1 s", "waits 2 s", true),
        ("503", "502", true),
        ("verified: ", "", true),
        ("attempt 4", "attempt 5", true),
    ] {
        let ran = format!("building\n{}", recorded.replace(from, to));
        let difference = pictures::difference(&recorded, &ran);
        report.check(difference.is_some() == differs, format!("{from} instead of {to}: {difference:?}"));
    }
}

/// The recorded table and diagram of the simulation, with a number that violates one of the checks.
pub(super) fn simulated_storm(env: &Env, _: &Path, report: &mut Report) {
    let (table, phases) = (env.read("docs/pictures/storm.txt"), env.read("docs/pictures/storm-phases.csv"));
    let row = |start: &str| table.lines().find(|line| line.starts_with(start)).expect("the table has the row");
    let grpc = row("grpc            60 s");
    for (from, to, complaint) in [
        (
            row("aws-2026    outage"),
            row("jitter      outage").replacen("jitter  ", "aws-2026", 1),
            "recovers from outage with aws-2026",
        ),
        (row("jitter      outage"), row("none        outage").to_owned(), "rows without a budget never recover"),
        (row("envoy       ramp"), String::new(), "rows with a budget recover"),
        (grpc, grpc.replacen("yes", " NO", 1), "grpc keeps its bound in an outage of 60 s"),
        (grpc, grpc.replacen("      40", "   40000", 1), "grpc sends 40000 retries"),
        (grpc, String::new(), "the table has 20 rows with bounds"),
    ] {
        finds(report, "storm", &[complaint], |inner| storm::check_table(&table.replacen(from, &to, 1), inner));
    }
    let guide = env.read("docs/guide/retries-at-scale.md");
    for (from, to, complaint) in [
        ("139713", "139714", "the guide does not contain \"| 139,714 |\""),
        (
            "34858          18 s",
            "34858          19 s",
            "the guide does not contain \"the server needs 19 seconds to recover\"",
        ),
        (
            row("hedge       ramp"),
            row("aws-2026    ramp").replacen("aws-2026", "hedge   ", 1).as_str(),
            "476 requests per second with hedging",
        ),
        (
            row("finagle     outage"),
            row("finagle     outage").replacen("5 s", "6 s", 1).as_str(),
            "the guide says that the queue recovers",
        ),
        (
            "grpc              1000     84062     3366           2 s",
            "grpc 1000 84062 3366 never",
            "FINAGLE and ENVOY never recover",
        ),
    ] {
        finds(report, "storm", &[complaint], |inner| storm::check_guide(&guide, &table.replacen(from, to, 1), inner));
    }
    let lost = phases.replacen("AWS_2026,90,10,7", "AWS_2026,90,10,-1", 1);
    finds(report, "storm", &["with a budget, simulations and failures: (90, 1)"], |inner| {
        storm::check_phases(&lost, inner)
    });
    let recovered = phases.replace(",-1", ",1");
    finds(report, "storm", &["without a budget, simulations and failures: (90, 0)"], |inner| {
        storm::check_phases(&recovered, inner)
    });
    let mut inner = Report::default();
    storm::check_table(&table, &mut inner);
    storm::check_phases(&phases, &mut inner);
    storm::check_guide(&guide, &table, &mut inner);
    report.check(inner.failed() == 0, format!("the suite storm accepts the recordings: {:?}", inner.failures));
}

pub(super) fn unguarded_functions(_: &Env, _: &Path, report: &mut Report) {
    let function =
        |body: &str| format!("pub unsafe extern \"C\" fn netlib_bad(x: *const netlib_x) -> i32 {{\n    {body}\n}}\n");
    for body in [
        "guard::value(0, || Ok(1))",
        "const N: i32 = [1; 2][0];\n    static M: i32 = 1;\n    const fn f() -> i32 {\n        { 1 }\n    }\n    read(x, N, |x| x.f(')'))",
        "options::set(x, \"netlib_bad\", |x| x.set(\"(\"));",
    ] {
        let mut inner = Report::default();
        report.check(guards::check("a.rs", &function(body), &mut inner) == 1, "a function is found");
        report.check(inner.failed() == 0, format!("the suite guards accepts {body}: {:?}", inner.failures));
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

pub(super) fn unsafe_sources(_: &Env, _: &Path, report: &mut Report) {
    for (file, text, complaint) in [
        ("src/url.rs", "#![allow(unsafe_code)]\n", "may not allow unsafe code: line 1"),
        ("src/url.rs", "fn f() {\n    unsafe { g() }\n}\n", "has no unsafe code: line 2"),
        ("src/url.rs", "use crate::ffi::Handle;\n", "knows nothing of the C ABI: line 1"),
        ("src/url.rs", "const NAME: &str = \"see netlib_url_free\";\n", "knows nothing of the C ABI: line 1"),
    ] {
        finds(report, "unsafe", &[complaint], |inner| unsafe_code::check(file, text, inner));
    }
    for (file, text) in [
        ("src/url.rs", "\nuse std::sync::{Arc, OnceLock};\n"),
        ("src/url.rs", "\nuse std::sync::{Arc, Mutex};\n#[cfg(test)]\nmod tests {\n"),
        ("src/url.rs", "\nstatic NAMES: std::sync::Mutex<()> = std::sync::Mutex::new(());\n"),
    ] {
        let complaint = "has no lock of the standard library: line 2";
        finds(report, "unsafe", &[complaint], |inner| unsafe_code::check_locks(file, text, inner));
    }
    let mut inner = Report::default();
    for (file, text) in [
        ("src/url.rs", "use crate::fork::Mutex;\n#[cfg(test)]\nmod tests {\n    use std::sync::Mutex;\n"),
        ("src/url/tests.rs", "use std::sync::Mutex;\n"),
        ("src/fork.rs", "use std::sync::Mutex;\n"),
    ] {
        unsafe_code::check_locks(file, text, &mut inner);
    }
    report.check(inner.failed() == 0, format!("the suite unsafe accepts these locks: {:?}", inner.failures));
}

/// Checks that the suite `imports` reports a cycle of one file more than allowed, for each form in which the last file
/// can import the first. Comments, strings, re-exports and test code must not count as imports.
pub(super) fn import_cycles(_: &Env, _: &Path, report: &mut Report) {
    let files = imports::MAX_CYCLE + 1;
    let declarations: String = (0..files).map(|i| format!("mod m{i};\n")).collect();
    let crate_with = |last: &str| {
        let text = |file: &str| {
            let number: usize = match file.strip_prefix("src/m").and_then(|name| name.strip_suffix(".rs")) {
                Some(name) => name.parse().ok()?,
                None => return (file == "src/lib.rs").then(|| format!("{declarations}pub use m0::T0 as First;\n")),
            };
            let next = number + 1;
            Some(match next == files {
                true => last.to_owned(),
                false => format!("use crate::m{next}::T{next};\npub struct T{number}(T{next});\n"),
            })
        };
        imports::graph(&imports::source::Crate::read(&text))
    };
    for last in [
        "use crate::m0::T0;\n",
        "use super::{m1, m0::{self, T0 as U}};\n",
        "use crate::m0::*;\n",
        "use super::First;\n",
        "use super::m0;\nfn f() -> m0::T0 {}\n",
        "fn f<'a>(c: char) { c == '\"' || c == '\\''; crate::m0::T0::new(); }\n",
        "mod inner {\n    use super::super::m0::T0;\n}\n",
        "#[cfg(test)]\nmod tests {\n}\n#[cfg(unix)]\nuse crate::m0::T0;\n",
    ] {
        let complaint = format!("{files} files import each other:\nsrc/m0.rs -> src/m1.rs (crate::m1::T1)\n");
        finds(report, "imports", &[&complaint], |inner| _ = imports::check(&crate_with(last), inner));
    }
    for last in [
        "use super::m0;\n",
        "pub use super::m0::T0;\n",
        "use std::m0::T0;\n",
        "// crate::m0::T0\n/* crate::m0::T0 */\nconst A: &str = \"crate::m0::T0\";\nconst B: &str = r#\"\"crate::m0::T0\"#;\n",
        "#[cfg(test)]\nuse crate::m0::T0;\n",
        "#[cfg(test)]\nmod tests {\n    use super::super::m0::T0;\n}\n",
        "#[cfg(all(test, unix))]\nfn f() {\n    crate::m0::T0::new();\n}\n",
    ] {
        let mut inner = Report::default();
        let largest = imports::check(&crate_with(last), &mut inner);
        report.check(largest == 0 && inner.failed() == 0, format!("{last:?} imports nothing: {:?}", inner.failures));
    }
    let mut inner = Report::default();
    let largest = imports::check(&crate_with("use super::m1::T1;\n"), &mut inner);
    report.check(largest == files - 1 && inner.failed() == 0, format!("a cycle of {largest} files is allowed"));
}

pub(super) fn locked_versions(env: &Env, _: &Path, report: &mut Report) {
    let (lock, table) = (env.read("Cargo.lock"), Table::load(env, "advisories"));
    let locked = |name: &str| {
        let block = lock.split("[[package]]").find(|block| block.contains(&format!("name = \"{name}\"\n")));
        block.expect("it is locked").to_owned()
    };
    let webpki = locked("rustls-webpki");
    let version = webpki.lines().find(|line| line.starts_with("version")).expect("it has a version");
    let source = webpki.lines().find(|line| line.starts_with("source")).expect("it has a source");
    let older = |number: &str| lock.replace(&webpki, &webpki.replace(version, &format!("version = \"{number}\"")));
    let elsewhere = |from: &str| lock.replace(&webpki, &webpki.replace(source, from));
    let all = ["RUSTSEC-2026-0049", "RUSTSEC-2026-0098", "RUSTSEC-2026-0099", "RUSTSEC-2026-0104"];
    let cases: [(String, &[&str]); 6] = [
        (older("0.103.9"), &all),
        (older("0.103.12"), &all[3..]),
        (older("0.104.0-alpha.6"), &all[3..]),
        (format!("{lock}\n[[package]]{webpki}"), &["rustls-webpki in 2 versions"]),
        (elsewhere("source = \"git+https://example.com/webpki\""), &["is not crates.io's"]),
        (elsewhere("source = \"registry+https://example.com/index\""), &["is not crates.io's"]),
    ];
    for (text, complaints) in cases {
        report.check(text != lock, "the lock file was changed for the test");
        finds(report, "advisories", complaints, |inner| advisories::check_lock("a lock", &text, &table, inner));
    }
    let mut good = Report::default();
    advisories::check_lock("Cargo.lock", &lock, &table, &mut good);
    report.check(
        good.failed() == 0,
        format!("the suite advisories accepts the lock file as it is: {:?}", good.failures),
    );
    let deny = env.read("deny.toml");
    for (expression, is_allowed) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only AND ISC OR MIT", true),
        ("GPL-3.0-only AND (ISC OR MIT)", false),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT WITH something", false),
        ("", false),
        ("MIT MIT", false),
        ("(MIT", false),
    ] {
        let mut inner = Report::default();
        advisories::check_licences(&format!("some v1.0.0|{expression}"), &deny, &mut inner);
        report.check(
            (inner.failed() == 0) == is_allowed,
            format!("the licence \"{expression}\": {:?}", inner.failures),
        );
    }
}

/// A binding passes a step only with the expected line, or with a reason if the step need not apply to the language.
pub(super) fn scenario_of_a_binding(_: &Env, _: &Path, report: &mut Report) {
    let steps = languages::parse_steps("# comment\nport\t80 {port}\tprint\nfork\tdone\tfork\n");
    let not_applicable = languages::Outcome::NotApplicable("no fork".to_owned());
    for (printed, allowed, failed, last) in [
        ("port\t80 443\nfork\tdone\n", "", 0, languages::Outcome::Passed),
        ("fork\tnot applicable: no fork\nport\t80 443\n", "fork\n", 0, not_applicable),
        ("port\t80 443\nfork\tnot applicable: no fork\n", "", 1, languages::Outcome::Failed),
        ("port\t80 443\nfork\tdone\nfork\tdone\n", "", 1, languages::Outcome::Failed),
        ("port\t80 443\n", "fork\n", 1, languages::Outcome::Failed),
        ("port\t80 444\nfork\tdone\n", "", 1, languages::Outcome::Passed),
        ("", "", 2, languages::Outcome::Failed),
    ] {
        let mut inner = Report::default();
        let fill_in = |text: &str| text.replace("{port}", "443");
        let outcomes = languages::compare("a language", &steps, printed, allowed, fill_in, &mut inner);
        let right = inner.failed() == failed && outcomes.last() == Some(&last);
        report.check(right, format!("{printed:?}: {failed} steps fail: {:?}", inner.failures));
    }
}
