//! Checks that the C functions about statuses return the contents of the Rust status table, for every number.

use std::fmt::Write as _;
use std::fs;

use netlib::status::{RetryKind, Status, StatusClass};

use crate::env::Env;
use crate::report::Report;
use crate::suites::c_tests::run_counted;

/// The C program checks the numbers from 0 to this one.
const LAST: i32 = 1199;

pub struct Row {
    code: i32,
    pub name: String,
    text: String,
    class: i32,
    retry_kind: i32,
}

pub fn run(env: &Env, report: &mut Report) {
    check(env, &program(&rows()), report);
    let header = env.header();
    let constants: Vec<&str> = header
        .enums
        .iter()
        .filter(|e| e.name == "netlib_status_code")
        .flat_map(|e| e.values.iter().map(|value| value.name.as_str()))
        .collect();
    let names: Vec<String> = rows().into_iter().map(|row| row.name).collect();
    report.check(constants == names, "enum netlib_status_code lists the table's statuses in its order");
}

pub fn check(env: &Env, program: &str, report: &mut Report) {
    let scratch = env.scratch("statuses");
    let (source, binary) = (scratch.join("statuses.c"), scratch.join("statuses"));
    fs::write(&source, program).expect("target is writable");
    match env.compile(&source, &binary, env.library()) {
        Ok(()) => run_counted(env, &binary, env.library(), &[], report),
        Err(text) => report.fail(format!("the generated program does not compile\n{text}")),
    }
}

pub fn rows() -> Vec<Row> {
    let text = |text: &std::ffi::CStr| text.to_str().expect("the table is text").to_owned();
    let row = |&status: &Status| Row {
        code: status as i32,
        name: text(status.name()),
        text: text(status.text()),
        class: status.class() as i32,
        retry_kind: status.retry_kind() as i32,
    };
    Status::ALL.iter().map(row).collect()
}

/// Returns a C program that compares, for each number, the results of the status functions with the table.
pub fn program(rows: &[Row]) -> String {
    let mut text = String::from(
        "#include \"harness.h\"\n\nstatic const struct {\n    int32_t code, constant;\n    enum netlib_class class;\n    \
         enum netlib_retry_kind retry_kind;\n    \
         const char *name, *text;\n} rows[] = {\n",
    );
    for row in rows {
        let _ = writeln!(
            text,
            "    {{{}, {}, {}, {}, \"{}\", \"{}\"}},",
            row.code, row.name, row.class, row.retry_kind, row.name, row.text
        );
    }
    let _ = write!(
        text,
        "}};\n\nint main(void) {{\n    size_t next = 0;\n    for (int32_t code = 0; code <= {LAST}; code++) {{\n        \
         bool known = next < sizeof rows / sizeof rows[0] && rows[next].code == code;\n        \
         bool right = strcmp(known ? rows[next].name : \"NETLIB_UNKNOWN_STATUS\", netlib_status_name(code)) == 0 &&\n            \
         strcmp(known ? rows[next].text : \"unknown status\", netlib_status_text(code)) == 0 &&\n            \
         netlib_status_class(code) == (known ? rows[next].class : NETLIB_CLASS_SYSTEM) &&\n            \
         netlib_status_retry_kind(code) == (known ? rows[next].retry_kind : NETLIB_RETRY_KIND_NEVER) &&\n            \
         (!known || rows[next].constant == code);\n        \
         check_report(right, __FILE__, (int)code, known ? rows[next].name : \"a number that is no status\");\n        \
         if (known) next++;\n    }}\n    \
         CHECK_INT((long long)(sizeof rows / sizeof rows[0]), (long long)next);\n    return report(\"statuses\");\n}}\n"
    );
    text
}

/// Returns the text of docs/reference/statuses.md.
pub fn page() -> String {
    let mut text = String::from(
        "# Statuses\n\n<!-- Generated from the table in src/status.rs: edit that file, then run `make header`. -->\n\n\
         The number of a status never changes and is never reused. The number divided by 100, without the remainder,\n\
         is the number of the class. A release may add statuses: switch on `netlib_status_class` to handle unknown\n\
         statuses. The retry kind names the counter of a `netlib_retry` that a failure with the status decrements; a\n\
         failure of the kind `never` is not retried. The kinds `connect` and `other` hold only if no byte of the\n\
         request was sent before the failure, as early data or otherwise; after that, the kind is `read`. An error\n\
         records whether the request was sent, so an error may have a different retry kind than its status:\n\
         `netlib_error_retry_kind` returns the kind of an error.\n\n",
    );
    text.push_str("| number | constant | class | retry kind | meaning |\n|---|---|---|---|---|\n");
    for row in rows() {
        let status = Status::from_code(row.code).expect("it came from the table");
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} |",
            row.code,
            row.name,
            class(status.class()),
            retry_kind(status.retry_kind()),
            row.text
        );
    }
    text
}

fn class(class: StatusClass) -> &'static str {
    match class {
        StatusClass::Success => "success",
        StatusClass::Progress => "progress",
        StatusClass::Argument => "argument",
        StatusClass::State => "state",
        StatusClass::System => "system",
        StatusClass::Time => "time",
        StatusClass::Url => "URL",
        StatusClass::Connect => "connect",
        StatusClass::Tls => "TLS",
        StatusClass::Http => "HTTP",
        StatusClass::Retry => "retry",
        StatusClass::Application => "application",
    }
}

fn retry_kind(kind: RetryKind) -> &'static str {
    match kind {
        RetryKind::Never => "never",
        RetryKind::Connect => "connect",
        RetryKind::Read => "read",
        RetryKind::Other => "other",
        RetryKind::ByCause => "that of its cause",
    }
}
