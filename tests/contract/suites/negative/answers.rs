//! Checks that the suites `keys`, `vectors`, `chains` and `interop` report wrong results.

use std::fs;
use std::path::Path;

use super::finds;
use crate::data::Table;
use crate::env::Env;
use crate::report::Report;
use crate::suites::interop::mistaken;
use crate::suites::{chains, interop, keys, vectors};

pub(super) fn loaded_keys(env: &Env, scratch: &Path, report: &mut Report) {
    let list = scratch.join("list");
    for (row, complaint) in [
        (
            "NETLIB_OK\tfile\tserver.pem\tserver-encrypted.key\t-\t",
            "expected NETLIB_OK, got NETLIB_PASSWORD_REQUIRED",
        ),
        ("NETLIB_WRONG_PASSWORD\tfile\tserver.pem\tserver-encrypted.key\t+secret\t", "got NETLIB_OK"),
        ("NETLIB_WRONG_PASSWORD\tmemory\tserver.pem\tserver-encrypted.key\t+x\tsomething else", "is wrong"),
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

/// Runs the checks of the suite `vectors` on recorded results and tables of differences that have mistakes, and
/// verifies that the checks report each mistake.
pub(super) fn recorded_answers(env: &Env, scratch: &Path, report: &mut Report) {
    let folder = scratch.join("vectors");
    let write = |version: &str, text: &str| {
        fs::create_dir_all(folder.join(version)).expect("target is writable");
        fs::write(folder.join(version).join("split_first.txt"), text).expect("target is writable");
    };
    write("urllib3-2.8.0", "> a/b /\n< a b /\n> ab /\n< ab \\e -\n> a?b ?\n< wrong\n");
    write("urllib3-1.26.20", "> a/b /\n< a c /\n> gone /\n< a\n");
    write("differences", "> ab /\n= made-up\n< other\n");
    let complaints = [
        "input: a?b ?\nurllib3: wrong\nnetlib: a b ?",
        "netlib's answer equals urllib3's, although a difference is recorded",
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
    let mut table = "# x\nclass\tcompared by\tnetlib\turllib3\treason\ttests\n".to_owned();
    table.extend((0..28).map(|i| format!("class-{i}\tvectors\tx\tx\tnone\ttest_nowhere.c\n")));
    table += "class-alone\tnothing\tx\tx\tproject decision\ttest_url.c\n";
    let hits = vectors::Hits::from([("class-1".to_owned(), 2), ("met".to_owned(), 3)]);
    let complaints = [
        "28 classes",
        "no case of the vectors is of the class class-0",
        "the reason of class-2 names neither",
        "class-alone is compared by \"nothing\"",
        "class-27: no test test_nowhere.c runs",
        "no class met in the table, but 3 cases",
    ];
    let table = Table::parse("a table", &table);
    finds(report, "vectors", &complaints, |inner| vectors::check(env, &table, &hits, inner));
}

/// Compares netlib with wrong results of other libraries for a valid chain and for one with an expired leaf, and compares
/// counts of chains with a table that has other counts.
pub(super) fn verified_chains(env: &Env, scratch: &Path, report: &mut Report) {
    let recorded = env.read(chains::RECORDED);
    let names = ["leaf", "leaf;validity=expired", "int", "root"];
    let is_wanted = |line: &&str| names.iter().any(|name| line.starts_with(&format!("certificate {name} ")));
    let certificates: String = recorded.lines().filter(is_wanted).map(|line| format!("{line}\n")).collect();
    let text =
        certificates + "chain root leaf,int 0 20 0,0,0,79\nchain root leaf;validity=expired,int 10 10 10,10,0,10\n";
    let complaints = [
        "leaf,int for root, ServerWithoutName, strict false: ssl's 20 and 20, netlib's 0",
        "leaf,int for root, ServerWithoutName, strict true: ssl's 20 and 20, netlib's 0",
        "leaf,int for root, Client, strict true: ssl's 0 and 79, netlib's 0",
        "leaf;validity=expired,int for root, Client, strict false: ssl's 10 and 0, netlib's 1",
    ];
    finds(report, "chains", &complaints, |inner| {
        chains::recorded::compare(env, scratch, &text, inner);
    });
    let table =
        "# x\nclass\tkind\tcases\tdescription\nlength\taxis\t2\tx\nname\taxis\t3\tx\nother\tdifference\t1\tx\n";
    let table = Table::parse("a table", table);
    let counts = chains::Counts::from([("length", 2), ("time", 1)]);
    let complaints = ["name: 3 cases in the table, 0 here", "every class is in the table: time, 1 cases"];
    finds(report, "chains", &complaints, |inner| chains::check_counts(&table, &["axis"], counts.clone(), inner));
}

/// Runs interop rows with a wrong expectation about the output of netlib or of the other implementation.
pub(super) fn other_implementations(env: &Env, _: &Path, report: &mut Report) {
    let Some(harness) = interop::Harness::new(env, env.library(), "interop-negative", &[], report) else { return };
    for (row, complaint) in mistaken::rows() {
        finds(report, "interop", &[complaint], |inner| harness.run_all(&[row], inner));
    }
    for (refusal, complaint) in mistaken::refusals() {
        finds(report, "interop", &[complaint], |inner| harness.refuse_all(&[refusal], inner));
    }
    for (row, complaint) in mistaken::early() {
        finds(report, "interop", &[complaint], |inner| interop::early::run_rows(&harness, &[row], inner));
    }
}
