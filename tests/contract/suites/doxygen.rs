//! Checks that Doxygen with docs/Doxyfile documents every function of netlib.h, and prints no warning.

use std::fs;
use std::path::Path;

use crate::env::{Env, has};
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    if !has("doxygen") {
        return report.skip("doxygen is not installed");
    }
    let scratch = env.scratch("doxygen");
    check(env, &env.root.join("include/netlib.h"), &scratch, report);
    let header = env.header();
    for section in &header.sections {
        let page = fs::read_to_string(scratch.join(format!("html/group__{}.html", section.name))).unwrap_or_default();
        let functions = header.functions.iter().filter(|function| function.place.section == section.name);
        let missing = functions.filter(|function| !page.contains(&format!("</span>{}()</h2>", function.name)));
        let problems = missing.map(|function| format!("{} is not documented", function.name)).collect();
        report.problems(format!("the page of the group \"{}\"", section.name), problems);
    }
    let main = fs::read_to_string(scratch.join("html/index.html")).unwrap_or_default();
    report.check(main.contains("OWNERSHIP"), "the main page contains the conventions");
}

/// Runs Doxygen for a header. Each line of the output is a failure.
pub fn check(env: &Env, header: &Path, scratch: &Path, report: &mut Report) {
    let mut doxygen = env.command("env");
    doxygen.arg("-C").arg(scratch).arg("doxygen").arg(env.root.join("docs/Doxyfile"));
    let ran = doxygen.env("NETLIB_H", header).run(300);
    report.problems("doxygen", ran.text.lines().take(20).map(str::to_owned).collect());
    report.check(ran.ok, "doxygen succeeds");
}
