//! Draws the output of examples-c/storm: the load and the goodput in each second of an outage, and the diagram of the
//! spikes from which the server recovers.

use super::svg::{BLUE, BOLD, GREEN, GREY, PALE, PLAIN, Picture, RED, SMALL, TITLE, wrap};

/// The files with the recorded output of examples-c/storm, and its arguments.
pub const RECORDINGS: &[(&str, &str)] = &[
    ("docs/pictures/storm.txt", "table"),
    ("docs/pictures/storm.csv", "series"),
    ("docs/pictures/storm-phases.csv", "phases"),
];

const LEFT: f64 = 12.0;
/// The distance between the left ends, and between the upper ends, of neighbouring panels.
const ACROSS: f64 = 234.0;
const DOWN: f64 = 100.0;
/// The size of the plot in a panel.
const PLOT: (f64, f64) = (216.0, 64.0);

/// The numbers of a second: the second, the arrivals, the attempts and the requests that succeeded.
type Second = [f64; 4];

/// Returns the rows of CSV without the headings: the text of the first column, and the numbers of the others.
fn rows<const N: usize>(csv: &str) -> Vec<(&str, [f64; N])> {
    let parse = |line| {
        let (name, numbers) = str::split_once(line, ',')?;
        let numbers: Option<Vec<f64>> = numbers.split(',').map(|number| number.parse().ok()).collect();
        Some((name, numbers?.try_into().ok()?))
    };
    csv.lines().skip(1).map(|line| parse(line).unwrap_or_else(|| panic!("\"{line}\" is no row"))).collect()
}

/// Draws a panel for each policy.
pub fn draw(csv: &str) -> String {
    let rows = rows(csv);
    let most = rows.iter().map(|(_, second): &(&str, Second)| second[2]).fold(1.0, f64::max);
    let mut picture = Picture::default();
    picture.text(LEFT, 22.0, TITLE, "A server stalls for ten seconds: load and goodput");
    picture.bar(LEFT, 33.0, 18.0, 3.0, RED);
    picture.text(LEFT + 24.0, 40.0, SMALL, "attempts per second");
    picture.bar(LEFT + 140.0, 33.0, 18.0, 3.0, BLUE);
    picture.text(LEFT + 164.0, 40.0, SMALL, "successful requests per second");
    picture.bar(LEFT + 350.0, 30.0, 18.0, 10.0, PALE);
    picture.text(LEFT + 374.0, 40.0, SMALL, "outage");
    let panels: Vec<_> = rows.chunk_by(|(a, _), (b, _)| a == b).collect();
    for (at, panel) in panels.iter().enumerate() {
        let (x, y) = (LEFT + (at % 2) as f64 * ACROSS, 52.0 + (at / 2) as f64 * DOWN);
        self::panel(&mut picture, (x, y), panel, most);
    }
    let bottom = 52.0 + panels.len().div_ceil(2) as f64 * DOWN;
    let note = format!("Each panel: 50 seconds, 0 to {most:.0} per second; 700 arrivals per second, capacity 1,000.");
    picture.text(LEFT, bottom + 10.0, SMALL, &note);
    picture.finish(bottom + 22.0)
}

fn panel(picture: &mut Picture, (x, y): (f64, f64), panel: &[(&str, Second)], most: f64) {
    let (width, height) = PLOT;
    let (first, last) = (panel[0].1[0], panel[panel.len() - 1].1[0]);
    let across = |second: f64| x + (second - first) * width / (last - first);
    let (top, bottom) = (y + 20.0, y + 20.0 + height);
    picture.text(x, y + 14.0, BOLD, panel[0].0);
    picture.bar(across(20.0), top, across(30.0) - across(20.0), height, PALE);
    picture.line((x, bottom), (x + width, bottom), GREY);
    for (column, colour) in [(2, RED), (3, BLUE)] {
        let point = |(_, second): &(&str, Second)| (across(second[0]), bottom - second[column] * height / most);
        picture.curve(panel.iter().map(point), colour);
    }
}

/// Draws the diagram of loads and spikes: a panel for each policy, and a cell for each simulation.
pub fn draw_phases(csv: &str) -> String {
    const CELL: (f64, f64) = (18.0, 16.0);
    let rows = rows::<3>(csv);
    let mut picture = Picture::default();
    picture.text(LEFT, 22.0, TITLE, "Does the server recover from a spike of ten seconds?");
    picture.bar(LEFT, 31.0, 10.0, 10.0, GREEN);
    picture.text(LEFT + 16.0, 40.0, SMALL, "recovers");
    picture.bar(LEFT + 76.0, 31.0, 10.0, 10.0, RED);
    picture.text(LEFT + 92.0, 40.0, SMALL, "does not recover within a minute");
    let mut bottom = 0.0f64;
    for (at, panel) in rows.chunk_by(|(a, _), (b, _)| a == b).enumerate() {
        let x = LEFT + at as f64 * ACROSS;
        picture.text(x, 62.0, BOLD, panel[0].0);
        let loads: Vec<_> = panel.chunk_by(|(_, a), (_, b)| a[0] == b[0]).collect();
        for (line, row) in loads.iter().rev().enumerate() {
            let y = 70.0 + line as f64 * CELL.1;
            picture.text(x, y + 12.0, PLAIN, &format!("{} %", row[0].1[0]));
            for (column, (_, [_, _, recovery])) in row.iter().enumerate() {
                let colour = if *recovery < 0.0 { RED } else { GREEN };
                picture.bar(x + 36.0 + column as f64 * CELL.0, y, CELL.0 - 2.0, CELL.1 - 2.0, colour);
            }
            bottom = bottom.max(y + CELL.1);
        }
        for (column, (_, [_, size, _])) in loads[0].iter().enumerate() {
            picture.text(x + 40.0 + column as f64 * CELL.0, bottom + 12.0, SMALL, &format!("{size}"));
        }
    }
    let note =
        "Upwards: the load in percent of the capacity. To the right: the load in the spike divided by this load.";
    let lines = wrap(note, 84);
    for (at, line) in lines.iter().enumerate() {
        picture.text(LEFT, bottom + 30.0 + at as f64 * 14.0, SMALL, line);
    }
    picture.finish(bottom + 28.0 + lines.len() as f64 * 14.0)
}
