//! Tables for people.

use crate::timing::{geometric_mean, median, median_ratio};

/// Columns as wide as they need; the first to the left, the others to the right.
pub struct Table(Vec<Vec<String>>);

impl Table {
    pub fn new(titles: &[&str]) -> Table {
        Table(vec![titles.iter().map(|title| title.to_string()).collect()])
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }

    pub fn print(&self) {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; columns];
        for row in &self.0 {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.0 {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            println!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        println!();
    }
}

/// An operation's figures in one group.
pub struct Measured {
    pub name: String,
    pub ns: f64,
    /// To the group's reference.
    pub ratio: Option<f64>,
    pub allocations: Option<f64>,
}

impl Measured {
    pub fn all(
        names: impl Iterator<Item = String>,
        times: Vec<Vec<f64>>,
        reference: Option<&str>,
        allocations: impl Fn(&str) -> Option<f64>,
    ) -> Vec<Measured> {
        let names: Vec<String> = names.collect();
        let reference = names.iter().position(|name| Some(name.as_str()) == reference);
        let measure = |(name, own): (String, &Vec<f64>)| Measured {
            ns: median(own),
            ratio: reference.map(|reference| median_ratio(own, &times[reference])),
            allocations: allocations(&name),
            name,
        };
        names.into_iter().zip(&times).map(measure).collect()
    }
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// One table for groups that have the same operations.
pub fn side_by_side(groups: &[(String, Vec<Measured>)]) {
    let mut titles = vec![""];
    for (name, _) in groups {
        titles.extend([name.as_str(), "ratio", "allocations"]);
    }
    titles.extend(["geometric mean", "highest"]);
    let mut table = Table::new(&titles);
    for i in 0..groups[0].1.len() {
        let mut row = vec![groups[0].1[i].name.clone()];
        for (_, rows) in groups {
            row.extend([format!("{:.1}", rows[i].ns), number(rows[i].ratio, 3), number(rows[i].allocations, 2)]);
        }
        let summary = summary(groups, i);
        row.extend([number(summary.map(|s| s.0), 3), number(summary.map(|s| s.1), 3)]);
        table.row(row);
    }
    table.print();
}

/// The geometric mean of an operation's ratios, and the highest.
fn summary(groups: &[(String, Vec<Measured>)], i: usize) -> Option<(f64, f64)> {
    let ratios: Vec<f64> = groups.iter().map(|(_, rows)| rows[i].ratio).collect::<Option<_>>()?;
    Some((geometric_mean(&ratios), ratios.iter().copied().fold(0.0, f64::max)))
}

/// A table for one group.
pub fn below(name: &str, rows: &[Measured]) {
    let mut table = Table::new(&[name, "ns", "ratio", "allocations"]);
    for row in rows {
        table.row(vec![row.name.clone(), format!("{:.1}", row.ns), number(row.ratio, 3), number(row.allocations, 2)]);
    }
    table.print();
}

/// What netlib is to reach beside ada, in a geometric mean and in the highest ratio.
const TARGETS: &[(&str, f64, f64)] = &[("target", 0.60, 0.75), ("goal", 0.40, 0.55)];

pub fn targets(groups: &[(String, Vec<Measured>)]) {
    let verdict = |met| if met { "met" } else { "missed" };
    for (i, row) in groups[0].1.iter().enumerate().filter(|(_, row)| row.name.starts_with("netlib")) {
        if let Some((mean, highest)) = summary(groups, i) {
            for &(what, mean_limit, highest_limit) in TARGETS {
                let met = verdict(mean <= mean_limit && highest <= highest_limit);
                println!(
                    "  {}: geometric mean {mean:.3}, highest {highest:.3}; {what} {mean_limit:.2} and {highest_limit:.2}: {met}",
                    row.name
                );
            }
        }
        let most = groups.iter().filter_map(|(_, rows)| rows[i].allocations).fold(0.0, f64::max);
        println!("  {}: at most {most:.2} allocations per URL; target 1: {}", row.name, verdict(most <= 1.0));
    }
    println!();
}
