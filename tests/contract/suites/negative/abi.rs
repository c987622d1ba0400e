//! Changes netlib.h, and checks that the suite `abi` reports each kind of change.

use std::fs;
use std::path::Path;

use super::finds;
use crate::env::{Env, has};
use crate::report::Report;
use crate::suites::abi::{self, Failure, Project};

/// The text in netlib.h, its replacement, and a part of the expected report.
const BREAKS: &[(&str, &str, &str)] = &[
    ("const char *netlib_version(void);", "", "[D] 'function const char* netlib_version()'"),
    ("int32_t netlib_version_number(void);", "int64_t netlib_version_number(void);", "netlib_version_number"),
    ("netlib_status_name(netlib_status status)", "netlib_status_name(int64_t status)", "netlib_status_name"),
    ("netlib_status_name(netlib_status status)", "netlib_status_name(netlib_status status, int x)", "added"),
    ("NETLIB_CERT_REQUIRED = 2", "NETLIB_CERT_REQUIRED = 7", "NETLIB_CERT_REQUIRED' from value '2' to '7'"),
    ("    NETLIB_CERT_REQUIRED = 2\n", "", "NETLIB_CERT_REQUIRED"),
    ("    size_t len;\n} netlib_slice;", "    size_t len;\n    size_t more;\n} netlib_slice;", "netlib_slice"),
    ("    size_t len;\n} netlib_slice;", "    int32_t len;\n} netlib_slice;", "netlib_slice"),
    (
        "typedef void (*netlib_ctx_free_fn)(void *ctx);",
        "typedef int32_t (*netlib_ctx_free_fn)(void *ctx);",
        "netlib_ctx_free_fn",
    ),
    ("NETLIB_URL_MAX = 16777216", "NETLIB_URL_MAX = 16777215", "NETLIB_URL_MAX"),
    ("#define NETLIB_TIMEOUT_DEFAULT (-1.0)", "", "macro NETLIB_TIMEOUT_DEFAULT is removed"),
    (
        "#define NETLIB_TIMEOUT_DEFAULT (-1.0)",
        "#define NETLIB_TIMEOUT_DEFAULT (-2.0)",
        "macro NETLIB_TIMEOUT_DEFAULT changes from (-1.0) to (-2.0)",
    ),
];

const ADDITIONS: &[(&str, &str, &str)] = &[
    (
        "const char *netlib_version(void);",
        "const char *netlib_version(void);\nint32_t netlib_new(void);",
        "netlib_new",
    ),
    ("NETLIB_CERT_REQUIRED = 2", "NETLIB_CERT_REQUIRED = 2,\n    NETLIB_CERT_NEW = 3", "NETLIB_CERT_NEW"),
    (
        "#define NETLIB_TIMEOUT_DEFAULT",
        "#define NETLIB_NEW 1\n#define NETLIB_TIMEOUT_DEFAULT",
        "macro NETLIB_NEW is added",
    ),
];

pub(super) fn changed_headers(env: &Env, scratch: &Path, report: &mut Report) {
    if !["abidw", "abidiff", "gcc"].into_iter().all(has) {
        return report.skip("abigail-tools or gcc is not installed: no check of changed headers");
    }
    let project = |version: &str, changelog: &str| Project {
        version: version.to_owned(),
        soname: "libnetlib.so.0.1\n".to_owned(),
        changelog: changelog.to_owned(),
        recorded: scratch.join("abi"),
    };
    let unreleased = project("0.1.0", "# Changelog\n\n## 0.1.0, unreleased\n");
    let released = project("0.1.1", "# Changelog\n\n## 0.1.1, unreleased\n\n## 0.1.0, 2026-01-01\n");
    let next = project("0.2.0", "# Changelog\n\n## 0.2.0, unreleased\n\n## 0.1.0, 2026-01-01\n");
    let (good, header) = (env.header_text(), scratch.join("abi/include/netlib.h"));
    fs::create_dir_all(scratch.join("abi/include")).expect("target is writable");
    fs::write(&header, &good).expect("target is writable");

    let complaints = ["netlib-0.1.macros does not exist"];
    finds(report, "abi", &complaints, |inner| abi::check(env, &released, &header, scratch, inner));
    let write = |project: &Project| match abi::write(env, project, &header, scratch) {
        Ok(()) => Ok(()),
        Err(Failure::MissingTool(text) | Failure::Broken(text)) => Err(text),
    };
    report.check(write(&unreleased).is_ok(), "the ABI of netlib.h is recorded");
    let mut inner = Report::default();
    abi::check(env, &released, &header, scratch, &mut inner);
    report.check(inner.failures.is_empty(), format!("an unchanged header passes: {:?}", inner.failures));

    let complaints = ["abi/soname is \"libnetlib.so.0.1\\n\"", "abi/netlib-0.1.abi belongs to another SONAME"];
    finds(report, "abi", &complaints, |inner| abi::soname(&next, inner));
    finds(report, "abi", &["netlib-0.2.macros does not exist"], |inner| {
        abi::check(env, &next, &header, scratch, inner);
    });

    for (rows, complaint) in [(BREAKS, "breaks programs"), (ADDITIONS, "extends the ABI: run `make abi`")] {
        for (from, to, item) in rows {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "netlib.h contains \"{from}\"");
            fs::write(&header, bad).expect("target is writable");
            finds(report, "abi", &[complaint, item], |inner| abi::check(env, &released, &header, scratch, inner));
        }
    }

    // The last header of the loop has an addition, and this one a break.
    let broken = good.replacen("NETLIB_CERT_REQUIRED = 2", "NETLIB_CERT_REQUIRED = 7", 1);
    fs::write(&header, broken).expect("target is writable");
    let advice = "undo the change, or raise the minor version in Cargo.toml";
    finds(report, "abi", &[advice], |inner| abi::check(env, &released, &header, scratch, inner));
    let advice = "0.1.0 is not released yet: run `make abi`";
    finds(report, "abi", &[advice], |inner| abi::check(env, &unreleased, &header, scratch, inner));
    let refused = write(&released).err().unwrap_or_default();
    report
        .check(refused.contains("undo the change"), format!("make abi refuses a break after the release: {refused}"));
    report.check(write(&next).is_ok(), "make abi records a break for the next minor version");
    report.check(write(&unreleased).is_ok(), "make abi records a break before the first release");
}
