//! Draws the trace of the demo's first download.

use super::svg::{BLUE, GREEN, PALE, Picture, RED, Style, TITLE, WIDTH, wrap};

/// The file with the recorded output of `make demo`.
pub const RECORDING: &str = "docs/pictures/demo.txt";

/// Returns the part of the demo's output that netlib determines: everything after the build.
pub fn trace(output: &str) -> String {
    let lines = output.lines().skip_while(|line| !line.starts_with("* ")).map(|line| line.to_owned() + "\n");
    lines.collect()
}

/// Compares the output of a run with the recorded output. Returns the first line that differs in more than ports, times
/// and random waits.
pub fn difference(recorded: &str, ran: &str) -> Option<String> {
    let ran = trace(ran);
    let (mut old, mut new) = (recorded.lines(), ran.lines());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old.map(masked) == new.map(masked) => {}
            (old, new) => return Some(format!("recorded {old:?}, printed {new:?}")),
        }
    }
}

/// Replaces random waits, decimal fractions and numbers of five digits.
fn masked(line: &str) -> String {
    // A random wait may have an exponent.
    if let Some((before, _)) = line.split_once(" s: exponential backoff").and_then(|(wait, _)| wait.rsplit_once(' '))
    {
        return before.to_owned();
    }
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut out = String::new();
    for word in line.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '.')) {
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let varies = number.len() == 5 && number.parse::<u32>().is_ok()
            || number.parse::<f64>().is_ok() && number.contains('.');
        out.push_str(&if is_number(word) && varies { word.replace(number, "N") } else { word.to_owned() });
    }
    out
}

const LINE: f64 = 16.0;
/// The number of characters in a line of the picture.
const COLUMNS: usize = 58;
const MONOSPACE: Style = Style(12.0, "font-family=\"ui-monospace, monospace\"");
const MONOSPACE_BOLD: Style = Style(12.0, "font-family=\"ui-monospace, monospace\" font-weight=\"bold\"");

/// Draws a box for each attempt of the first download.
pub fn draw(recorded: &str) -> String {
    let mut picture = Picture::default();
    picture.text(12.0, 22.0, TITLE, "The first download of make demo, as it prints it");
    let lines = recorded.lines().map_while(|line| line.strip_prefix("* ")).map(|line| line.trim_start());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("X-")).collect();
    let mut y = 30.0;
    for attempt in lines.chunk_by(|_, next| !next.starts_with("attempt ")) {
        let colour = match attempt.iter().find(|line| line.starts_with("-> ")) {
            None => GREEN,
            Some(line) if line.starts_with("-> redirect") => BLUE,
            Some(_) => RED,
        };
        let rows: Vec<(usize, String)> = attempt
            .iter()
            .enumerate()
            .flat_map(|(at, line)| wrap(line, COLUMNS).into_iter().map(move |row| (at, row)))
            .collect();
        let height = rows.len() as f64 * LINE + 10.0;
        picture.bar(8.0, y, WIDTH - 16.0, height, PALE);
        picture.bar(8.0, y, 5.0, height, colour);
        for (row, (at, text)) in rows.iter().enumerate() {
            let is_bold = *at == 0 || attempt[*at].starts_with("-> ");
            let style = if is_bold { MONOSPACE_BOLD } else { MONOSPACE };
            picture.text(if *at == 0 { 20.0 } else { 32.0 }, y + (row + 1) as f64 * LINE, style, text);
        }
        y += height + 6.0;
    }
    picture.finish(y + 4.0)
}
