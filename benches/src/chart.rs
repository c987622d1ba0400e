//! Draws measurements as bar charts in SVG.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::report::Measured;
use crate::timing::median;

/// The directory of the charts.
const DIRECTORY: &str = "target/bench/charts";

const WIDTH: usize = 780;
const LINE: usize = 22;
/// The left end of the bars.
const LEFT: usize = 400;
/// The length of the longest bar of a group.
const LONGEST: f64 = 300.0;

/// Writes the chart of a table, and prints its path.
pub fn write(name: &str, title: &str, groups: &[Measured]) -> Result<(), String> {
    let path = Path::new(DIRECTORY).join(format!("{}.svg", name.replace(", ", "-")));
    let written = fs::create_dir_all(DIRECTORY).and_then(|()| fs::write(&path, bars(title, groups)));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    println!("  chart: {}\n", path.display());
    Ok(())
}

/// Returns a chart with a bar for the median time of each operation. In each group, the slowest operation has the
/// longest bar, because the times of different groups may differ by orders of magnitude.
fn bars(title: &str, groups: &[Measured]) -> String {
    let mut body = String::new();
    let mut y = 2 * LINE;
    for group in groups {
        let times: Vec<Option<f64>> =
            group.rows.iter().map(|row| (!row.times.is_empty()).then(|| median(&row.times))).collect();
        let slowest = times.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
        text(16, y, "bold", &group.name, &mut body);
        y += LINE;
        for (row, time) in group.rows.iter().zip(&times) {
            let Some(time) = time else { continue };
            let length = LONGEST * time / slowest;
            let colour = if row.name.starts_with("netlib") { "#1f6feb" } else { "#9aa4b2" };
            text(32, y, "normal", &row.name, &mut body);
            let _ = writeln!(
                body,
                "<rect x=\"{LEFT}\" y=\"{}\" width=\"{length:.1}\" height=\"14\" fill=\"{colour}\"/>",
                y - 12
            );
            text(LEFT + length as usize + 8, y, "normal", &duration(*time), &mut body);
            y += LINE;
        }
        y += LINE / 2;
    }
    let mut head = String::new();
    text(16, LINE, "bold", title, &mut head);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{y}\" fill=\"white\"/>\n{head}{body}</svg>\n"
    )
}

fn text(x: usize, y: usize, weight: &str, text: &str, out: &mut String) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" font-weight=\"{weight}\">{text}</text>");
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
    fn an_operation_with_half_the_time_has_half_the_bar() {
        let row = |name: &str, time: f64| Row { times: vec![time], ..Row::new(name) };
        let rows = vec![row("netlib", 50.0), row("a<b", 100.0), Row::new("absent")];
        let chart = bars("URLs", &[Measured { rows, ..Measured::new("short") }]);
        for part in
            ["width=\"150.0\" height=\"14\" fill=\"#1f6feb\"", "width=\"300.0\" height=\"14\"", "a&lt;b", "50 ns"]
        {
            assert!(chart.contains(part), "{part} in {chart}");
        }
        assert!(!chart.contains("absent"), "{chart}");
    }

    #[test]
    fn durations_have_the_largest_unit_of_at_least_1() {
        for (ns, text) in [(999.0, "999 ns"), (1e3, "1.0 µs"), (2.5e6, "2.5 ms")] {
            assert_eq!(duration(ns), text);
        }
    }
}
