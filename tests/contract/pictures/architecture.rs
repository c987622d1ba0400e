//! Draws the layers of netlib from the first diagram in docs/explanation/architecture.md.

use super::svg::{BLUE, BOLD, GREY, PALE, PLAIN, Picture, Style, TITLE, WIDTH, wrap};

/// The column of the diagram at which descriptions begin.
const DESCRIPTION: usize = 19;
const LINE: f64 = 16.0;
/// The left end of a name, and of a description beside it.
const NAME: f64 = 18.0;
const BESIDE: f64 = 140.0;

/// A row of the diagram: a name with a description, or the border between two layers.
enum Row {
    Module { names: String, description: String },
    Border(String),
}

/// Draws a box for each row of the diagram, and an arrow for each border.
pub fn draw(page: &str) -> String {
    let mut picture = Picture::default();
    picture.text(12.0, 22.0, TITLE, "The layers of netlib: a module uses modules below it");
    let mut y = 32.0;
    for row in rows(page) {
        match row {
            Row::Border(label) => {
                picture.line((WIDTH / 2.0, y), (WIDTH / 2.0, y + 10.0), GREY);
                y += 10.0;
                if !label.is_empty() {
                    picture.bar(12.0, y, WIDTH - 24.0, 22.0, BLUE);
                    picture.text(NAME, y + 15.0, Style(12.0, "fill=\"white\" font-weight=\"bold\""), &label);
                    y += 26.0;
                }
            }
            Row::Module { names, description } => {
                // A list of names has the whole width, and its description is below it.
                let is_list = names.contains("  ");
                let (left, columns) = if is_list { (NAME, 74) } else { (BESIDE, 52) };
                let lines = wrap(&description, columns);
                let first = if is_list { 1 } else { 0 };
                let height = (lines.len() + first) as f64 * LINE + 8.0;
                picture.bar(12.0, y, WIDTH - 24.0, height, PALE);
                picture.text(NAME, y + LINE, BOLD, &names.replace("  ", ", "));
                for (at, line) in lines.iter().enumerate() {
                    picture.text(left, y + (at + first + 1) as f64 * LINE, PLAIN, line);
                }
                y += height + 4.0;
            }
        }
    }
    picture.finish(y + 8.0)
}

/// Reads the indented lines of the first diagram.
fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().skip_while(|line| !line.starts_with("    "));
    let lines = lines.map_while(|line| line.strip_prefix("    "));
    let mut rows: Vec<Row> = Vec::new();
    for line in lines {
        let (names, description) = match line.split_at_checked(DESCRIPTION) {
            Some((names, description)) if names.ends_with(' ') => (names.trim(), description.trim()),
            _ => (line.trim(), ""),
        };
        match (names, rows.last_mut()) {
            ("v", _) => rows.push(Row::Border(String::new())),
            (border, _) if border.starts_with("--") => {
                let label = line.trim_matches(['-', 'v', ' ']);
                rows.push(Row::Border(label.to_owned()));
            }
            ("|", _) if description.is_empty() => {}
            ("" | "|", Some(Row::Module { description: before, .. })) => {
                let space = if before.is_empty() { "" } else { " " };
                *before = format!("{before}{space}{description}");
            }
            _ => rows.push(Row::Module { names: names.to_owned(), description: description.to_owned() }),
        }
    }
    rows
}
