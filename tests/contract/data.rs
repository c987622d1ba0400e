//! Reads the tables in `tests/contract/data`. A file begins with comment lines that contain the title and the
//! introduction of the page that is generated from the table. A line of column names follows, then one row per line.
//! Tabs separate the cells.

use crate::env::Env;

pub struct Table {
    pub title: String,
    pub introduction: String,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads `tests/contract/data/NAME.tsv`.
    pub fn load(env: &Env, name: &str) -> Table {
        let file = format!("tests/contract/data/{name}.tsv");
        Table::parse(&file, &env.read(&file))
    }

    /// Parses a table. Panics if a row has an empty cell, or more or fewer cells than the table has columns.
    pub fn parse(file: &str, text: &str) -> Table {
        let (comments, mut lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        let mut comments = comments.into_iter().map(|line| line.trim_start_matches('#').trim_start());
        let title = comments.next().unwrap_or_else(|| panic!("{file}: no title")).to_owned();
        let introduction = comments.collect::<Vec<_>>().join("\n");
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<String>>();
        let columns = cells(lines.remove(0)).len();
        let rows: Vec<Vec<String>> = lines.into_iter().map(cells).collect();
        for row in &rows {
            let is_whole = row.len() == columns && row.iter().all(|cell| !cell.is_empty());
            assert!(is_whole, "{file}: a row needs {} cells that are not empty: {row:?}", columns);
        }
        Table { title, introduction, rows }
    }
}
