//! Writes pictures in SVG. A picture has a white background, so that it is legible on a dark page, and is at most 480
//! units wide, so that its text is legible on a telephone.

use std::fmt::Write as _;

pub const WIDTH: f64 = 480.0;

pub const BLUE: &str = "#1f6feb";
pub const GREEN: &str = "#1a7f37";
pub const RED: &str = "#b42318";
pub const GREY: &str = "#9aa4b2";
pub const PALE: &str = "#eef2f7";
const BLACK: &str = "#1f2328";

/// The elements of a picture that is being drawn. The origin of the coordinates is at the top left.
#[derive(Default)]
pub struct Picture {
    body: String,
}

/// How text is written: its size, and attributes of the SVG element.
pub struct Style(pub f64, pub &'static str);

pub const TITLE: Style = Style(14.0, "font-weight=\"bold\"");
pub const BOLD: Style = Style(12.0, "font-weight=\"bold\"");
pub const PLAIN: Style = Style(12.0, "");
pub const SMALL: Style = Style(10.5, "fill=\"#57606a\"");

impl Picture {
    /// Writes a line of text, which begins at `x` and whose base line is at `y`.
    pub fn text(&mut self, x: f64, y: f64, Style(size, attributes): Style, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let space = if attributes.is_empty() { "" } else { " " };
        let _ =
            writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{space}{attributes}>{text}</text>");
    }

    /// Draws a filled rectangle with its top left corner at (`x`, `y`).
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" rx=\"2\" fill=\"{colour}\"/>"
        );
    }

    /// Draws a thin line from (`x1`, `y1`) to (`x2`, `y2`).
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) {
        let _ = writeln!(self.body, "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"{colour}\" fill=\"none\"/>");
    }

    /// Draws a thick line through the points.
    pub fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str) {
        let points: Vec<String> = points.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(
            self.body,
            "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"1.5\" fill=\"none\"/>",
            points.join("L")
        );
    }

    /// Returns the picture as the text of an SVG file.
    pub fn finish(self, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"system-ui, sans-serif\" fill=\"{BLACK}\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Splits a text at spaces into lines of at most `columns` characters. A longer word has a line of its own.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
