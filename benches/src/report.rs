//! Tables for people.

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
