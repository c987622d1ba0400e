//! Draws measurements as bar charts in SVG.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::report::Measured;
use crate::svg::{BLUE, BOLD, GREY, PLAIN, Picture, SMALL, TITLE, WIDTH, wrap};
use crate::timing::median;

/// The directory of the charts.
const DIRECTORY: &str = "target/bench/charts";

/// The height of a bar with its margin.
const LINE: f64 = 20.0;
/// The left end of the bars, and of the labels.
const LEFT: f64 = 24.0;
/// The width in pixels that is reserved to the right of the longest bar, for its label.
const AFTER: f64 = 110.0;
/// The width of a character of a label. Labels of at most `BESIDE` characters are beside their bars; if a chart has a
/// longer label, all labels are above their bars.
const CHARACTER: f64 = 6.8;
const BESIDE: usize = 24;

/// Bars that are compared with each other: the largest has the full length.
pub struct Group {
    pub name: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    pub value: f64,
    /// The value as text, with its unit.
    pub text: String,
    pub is_netlib: bool,
}

/// Writes the chart of a table, and prints its path.
pub fn write(table: &str, title: &str, groups: &[Group]) -> Result<(), String> {
    let path = Path::new(DIRECTORY).join(format!("{}.svg", table.replace(", ", "-")));
    let command = format!("make bench BENCH={}", table.split(',').next().unwrap_or(table));
    let written = fs::create_dir_all(DIRECTORY)
        .and_then(|()| fs::write(&path, chart(title, groups, &format!("{command}; one run; {}", machine()))));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    println!("  chart: {}\n", path.display());
    Ok(())
}

/// Returns the groups of a chart with a bar for the median time of each operation.
pub fn times(measured: &[Measured]) -> Vec<Group> {
    let bar = |label: &str, times: &[f64]| Bar {
        label: label.to_owned(),
        value: median(times),
        text: duration(median(times)),
        is_netlib: label.starts_with("netlib"),
    };
    let group = |group: &Measured| {
        let rows = group.rows.iter().filter(|row| !row.times.is_empty());
        Group { name: group.name.clone(), bars: rows.map(|row| bar(&row.name, &row.times)).collect() }
    };
    measured.iter().map(group).collect()
}

/// Returns the date and the machine of a measurement.
fn machine() -> String {
    let date = Command::new("date").arg("+%Y-%m-%d").output().map(|date| date.stdout).unwrap_or_default();
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<&str> = cpus
        .lines()
        .filter_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(": ")))
        .map(|(_, model)| model)
        .collect();
    let model = models.first().unwrap_or(&"unknown processor");
    format!("{}; {model}, {} processors", String::from_utf8_lossy(&date).trim(), models.len())
}

/// Draws the groups below each other, and a note below them.
fn chart(title: &str, groups: &[Group], note: &str) -> String {
    let mut picture = Picture::default();
    let longest = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let is_beside = longest <= BESIDE;
    let left = if is_beside { LEFT + longest as f64 * CHARACTER + 8.0 } else { LEFT };
    let mut y = 0.0;
    for line in wrap(title, 54) {
        y += LINE;
        picture.text(12.0, y, TITLE, &line);
    }
    for group in groups {
        y += LINE + 6.0;
        picture.text(12.0, y, BOLD, &group.name);
        let largest = group.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
        for bar in &group.bars {
            y += LINE;
            picture.text(LEFT, y, PLAIN, &bar.label);
            if !is_beside {
                y += LINE - 4.0;
            }
            let length = (WIDTH - left - AFTER) * bar.value / largest;
            picture.bar(left, y - 11.0, length.max(1.0), 14.0, if bar.is_netlib { BLUE } else { GREY });
            picture.text((left + length + 6.0).round(), y, PLAIN, &bar.text);
        }
    }
    y += 8.0;
    for line in wrap(note, 84) {
        y += 16.0;
        picture.text(12.0, y, SMALL, &line);
    }
    picture.finish(y + 12.0)
}

fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Row;

    #[test]
    fn a_bar_of_half_the_value_has_half_the_length() {
        let row = |name: &str, time: f64| Row { times: vec![time], ..Row::new(name) };
        let rows = vec![row("netlib", 50.0), row("a<b", 100.0), Row::new("absent")];
        let chart = chart("URLs", &times(&[Measured { rows, ..Measured::new("short") }]), "a note");
        for part in [
            "width=\"148.6\" height=\"14\" rx=\"2\" fill=\"#1f6feb\"",
            "width=\"297.2\"",
            "a&lt;b",
            "50 ns",
            "a note",
        ] {
            assert!(chart.contains(part), "{part} in {chart}");
        }
        assert!(!chart.contains("absent"), "{chart}");
    }

    #[test]
    fn a_label_of_25_characters_is_above_its_bar() {
        let bar = |length| Bar { label: "l".repeat(length), value: 1.0, text: "1".to_owned(), is_netlib: false };
        let top = |length| {
            let chart = chart("t", &[Group { name: "g".to_owned(), bars: vec![bar(length)] }], "");
            let (label, after) = chart.split_once("lll").unwrap();
            let y = |text: &str| text.split("y=\"").nth(1).and_then(|y| y.split('"').next()?.parse::<f64>().ok());
            (y(&label[label.rfind("<text").unwrap()..]).unwrap(), y(after).unwrap())
        };
        assert_eq!(top(24), (66.0, 55.0));
        assert_eq!(top(25), (66.0, 71.0));
    }

    #[test]
    fn durations_have_the_largest_unit_of_at_least_1() {
        for (ns, text) in [(999.0, "999 ns"), (1e3, "1.0 µs"), (2.5e6, "2.5 ms")] {
            assert_eq!(duration(ns), text);
        }
    }
}
