//! Prints measurements as tables.

use crate::timing::{geometric_mean, median, median_ratio};

/// A table with columns as wide as necessary. The first column is left-aligned, the others are right-aligned.
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

/// The measurements of a group of operations.
pub struct Measured {
    pub name: String,
    pub references: &'static [&'static str],
    pub rows: Vec<Row>,
}

/// The measurements of one operation.
pub struct Row {
    pub name: String,
    /// The time per operation in ns, by round.
    pub times: Vec<f64>,
    pub allocations: Option<f64>,
}

impl Row {
    /// Creates a row without measurements.
    pub fn new(name: &str) -> Row {
        Row { name: name.into(), times: Vec::new(), allocations: None }
    }
}

impl Measured {
    /// Creates a group without operations.
    pub fn new(name: &str) -> Measured {
        Measured { name: name.into(), references: &[], rows: Vec::new() }
    }

    /// Returns the median ratio of the times of row `i` to the times of the row with the name `reference`.
    fn ratio(&self, i: usize, reference: &str) -> Option<f64> {
        let reference = self.rows.iter().find(|row| row.name == reference)?;
        Some(median_ratio(&self.rows[i].times, &reference.times))
    }

    fn first_ratio(&self, i: usize) -> Option<f64> {
        self.references.iter().find_map(|reference| self.ratio(i, reference))
    }
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn cells(measured: &Measured, i: usize) -> [String; 3] {
    let row = &measured.rows[i];
    [format!("{:.1}", median(&row.times)), number(measured.first_ratio(i), 3), number(row.allocations, 2)]
}

/// Prints one table for several groups that have the same operations.
pub fn side_by_side(groups: &[Measured]) {
    let mut titles = vec![""];
    for group in groups {
        titles.extend([group.name.as_str(), "ratio", "allocations"]);
    }
    titles.extend(["geometric mean", "highest"]);
    let mut table = Table::new(&titles);
    for (i, first) in groups[0].rows.iter().enumerate() {
        let mut row = vec![first.name.clone()];
        row.extend(groups.iter().flat_map(|group| cells(group, i)));
        let summary = summary(groups.iter().map(|group| group.first_ratio(i)));
        row.extend([number(summary.map(|s| s.0), 3), number(summary.map(|s| s.1), 3)]);
        table.row(row);
    }
    table.print();
}

/// Returns the geometric mean and the maximum of an operation's ratios over the groups.
fn summary(ratios: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let ratios: Vec<f64> = ratios.collect::<Option<_>>()?;
    Some((geometric_mean(&ratios), ratios.iter().copied().fold(0.0, f64::max)))
}

/// Prints the table of one group.
pub fn below(group: &Measured) {
    let mut table = Table::new(&[&group.name, "ns", "ratio", "allocations"]);
    for (i, row) in group.rows.iter().enumerate() {
        let mut line = vec![row.name.clone()];
        line.extend(cells(group, i));
        table.row(line);
    }
    table.print();
}

/// The goals for the ratio of netlib's time to ada's: the highest allowed geometric mean, and the highest allowed
/// ratio.
const TARGETS: &[(&str, f64, f64)] = &[("target", 0.60, 0.75), ("goal", 0.40, 0.55)];

pub fn targets(groups: &[Measured]) {
    let verdict = |met| if met { "met" } else { "missed" };
    for (i, row) in groups[0].rows.iter().enumerate().filter(|(_, row)| row.name.starts_with("netlib")) {
        for reference in groups[0].references {
            let Some((mean, highest)) = summary(groups.iter().map(|group| group.ratio(i, reference))) else {
                continue;
            };
            print!("  {} / {reference}: geometric mean {mean:.3}, highest {highest:.3}", row.name);
            for &(what, mean_limit, highest_limit) in TARGETS {
                let met = verdict(mean <= mean_limit && highest <= highest_limit);
                print!("; {what} {mean_limit:.2} and {highest_limit:.2}: {met}");
            }
            println!();
        }
        if let Some((_, most)) = summary(groups.iter().map(|group| group.rows[i].allocations)) {
            println!("  {}: at most {most:.2} allocations per URL; target 1: {}", row.name, verdict(most <= 1.0));
        }
    }
    println!();
}

/// The goal of an operation: its name, and the highest allowed ratio of its time to the time of its group's reference.
pub type Goal = (&'static str, f64);

pub fn goals(groups: &[Measured], goals: &[Goal]) {
    for group in groups {
        for (i, row) in group.rows.iter().enumerate() {
            let Some(&(_, highest)) = goals.iter().find(|(name, _)| *name == row.name) else { continue };
            let Some(ratio) = group.first_ratio(i) else { continue };
            let verdict = if ratio <= highest { "met" } else { "missed" };
            println!(
                "  {}: {} / {}: {ratio:.3}; goal {highest:.2}: {verdict}",
                group.name, row.name, group.references[0]
            );
        }
    }
    println!();
}
