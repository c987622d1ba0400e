//! Generates pages of docs/reference from the tables in `tests/contract/data`.

use std::fmt::Write as _;

use crate::data::Table;
use crate::env::Env;

/// Returns the path and the text of each generated page.
pub fn all(env: &Env) -> Vec<(&'static str, String)> {
    vec![
        ("docs/reference/specification.md", specification(&Table::load(env, "specification"))),
        ("docs/reference/incidents.md", incidents(&Table::load(env, "incidents"))),
        ("docs/reference/differences.md", differences(&Table::load(env, "differences"))),
        ("docs/reference/chains.md", chains(&Table::load(env, "chains"))),
        ("docs/reference/tls-names.md", tls_names(&Table::load(env, "tls-names"))),
        ("docs/reference/bindings-features.md", features(&Table::load(env, "features"))),
    ]
}

fn specification(table: &Table) -> String {
    let mut page = start(table, "specification");
    for (section, rows) in groups(table) {
        let cells = |row: &&Vec<String>| [row[1].clone(), code(&row[2]), row[3].clone()];
        let rows: Vec<[String; 3]> = rows.iter().map(cells).collect();
        section_of(&mut page, &format!("Section {section}"), ["requirement", "C names", "tests"], &rows);
    }
    page
}

fn incidents(table: &Table) -> String {
    let mut page = start(table, "incidents") + "\n";
    let cells = |row: &Vec<String>| [row[0].clone(), row[1].clone(), code(&row[2])];
    rows_of(&mut page, ["incident", "rule", "tests"], &table.rows.iter().map(cells).collect::<Vec<_>>());
    page
}

/// A table with a row for each feature and a column for each language, and the reasons for each answer other than yes.
fn features(table: &Table) -> String {
    let mut page = start(table, "features") + "\n";
    let languages: Vec<&str> =
        groups(table).first().into_iter().flat_map(|(_, rows)| rows).map(|row| &row[1][..]).collect();
    let _ = write!(page, "| feature | {} |\n|{}\n", languages.join(" | "), "---|".repeat(languages.len() + 1));
    let mut reasons: Vec<&str> = Vec::new();
    for (feature, rows) in groups(table) {
        let cells = rows.iter().map(|row| match &row[2][..] {
            "yes" => "yes".to_owned(),
            answer => {
                let known = reasons.iter().position(|reason| *reason == row[3]);
                let number = known.unwrap_or_else(|| {
                    reasons.push(&row[3]);
                    reasons.len() - 1
                });
                format!("{answer} ({})", number + 1)
            }
        });
        let _ = writeln!(page, "| {feature} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    page.push_str("\nReasons:\n\n");
    for (at, reason) in reasons.iter().enumerate() {
        let _ = writeln!(page, "{}. {reason}", at + 1);
    }
    page
}

fn differences(table: &Table) -> String {
    let mut page = start(table, "differences");
    for row in &table.rows {
        let [class, _, netlib, urllib3, reason, tests] = row.as_slice() else {
            unreachable!("the table has six columns")
        };
        let _ = write!(page, "\n## {class}\n\n- netlib: {netlib}\n- urllib3: {urllib3}\n- Reason: {reason}\n");
        let (compared, alone): (Vec<&str>, Vec<&str>) =
            tests.split(' ').partition(|test| test.starts_with("vectors/"));
        for (label, tests) in
            [("Programs that compare netlib with urllib3", compared), ("Tests of netlib alone", alone)]
        {
            if !tests.is_empty() {
                let _ = writeln!(page, "- {label}: {}", code(&tests.join(" ")));
            }
        }
    }
    page
}

fn chains(table: &Table) -> String {
    let mut page = start(table, "chains");
    for (kind, title, columns) in [
        ("axis", "Agreement with openssl verify", ["property", "chains", "varied values"]),
        (
            "difference",
            "Differences from openssl verify",
            ["difference", "chains", "behaviour of openssl and netlib"],
        ),
        ("recorded", "Agreement with Python's ssl", ["result", "results", "meaning"]),
        (
            "recorded-difference",
            "Differences from Python's ssl",
            ["difference", "results", "behaviour of ssl and netlib"],
        ),
    ] {
        let of_kind = table.rows.iter().filter(|row| row[1] == kind);
        let rows: Vec<[String; 3]> = of_kind.map(|row| [row[0].clone(), row[2].clone(), row[3].clone()]).collect();
        section_of(&mut page, title, columns, &rows);
    }
    page
}

fn tls_names(table: &Table) -> String {
    let mut page = start(table, "tls-names");
    for (group, rows) in groups(table) {
        let absent = |cell: &str| if cell == "-" { "–".to_owned() } else { cell.to_owned() };
        let rows: Vec<[String; 3]> =
            rows.iter().map(|row| [row[1].clone(), row[2].clone(), absent(&row[3])]).collect();
        section_of(&mut page, group, ["name in another library", "netlib function", "not in netlib"], &rows);
    }
    page
}

fn start(table: &Table, name: &str) -> String {
    format!(
        "# {}\n\n<!-- Generated from tests/contract/data/{name}.tsv: edit that file, then run `make header`. -->\n\n{}\n",
        table.title, table.introduction
    )
}

/// Groups adjacent rows that have the same first cell.
fn groups(table: &Table) -> Vec<(&str, Vec<&Vec<String>>)> {
    let mut groups: Vec<(&str, Vec<&Vec<String>>)> = Vec::new();
    for row in &table.rows {
        match groups.last_mut() {
            Some((name, rows)) if *name == row[0] => rows.push(row),
            _ => groups.push((&row[0], vec![row])),
        }
    }
    groups
}

fn section_of<const N: usize>(page: &mut String, title: &str, columns: [&str; N], rows: &[[String; N]]) {
    let _ = write!(page, "\n## {title}\n\n");
    rows_of(page, columns, rows);
}

fn rows_of<const N: usize>(page: &mut String, columns: [&str; N], rows: &[[String; N]]) {
    let _ = writeln!(page, "| {} |\n|{}", columns.join(" | "), "---|".repeat(N));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

/// Formats each word as inline code. The cell "-" means that there is no word.
fn code(words: &str) -> String {
    if words == "-" {
        return "–".to_owned();
    }
    words.split(' ').map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
}
