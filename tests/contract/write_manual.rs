//! Writes the man pages, or the sources of the site. scripts/man and scripts/site compile this program with rustc alone,
//! so that packages with man pages need no development build of netlib.
//!
//! usage: write_manual man DIRECTORY DATE
//!        write_manual site DIRECTORY

// This program uses only a part of the modules that it shares with the contract tests.
#![allow(dead_code)]

mod cdef;
mod description;
mod json;
mod manual;
mod model;

use std::collections::BTreeMap;
use std::path::Path;

use manual::{File, site};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = Path::new(".");
    let (directory, files) = match args.as_slice() {
        ["man", directory, date] => (directory, manual::files(root, date).into_iter().collect()),
        ["site", directory] => {
            let files = site::files(root).into_iter();
            (directory, files.map(|(path, text)| (path, File::Text(text))).collect::<BTreeMap<_, _>>())
        }
        _ => {
            eprintln!("usage: write_manual man DIRECTORY DATE, or write_manual site DIRECTORY");
            std::process::exit(2);
        }
    };
    for (path, file) in files {
        let path = Path::new(directory).join(path);
        std::fs::create_dir_all(path.parent().expect("a file in a directory"))?;
        match file {
            File::Text(text) => std::fs::write(path, text)?,
            File::Link(target) => std::os::unix::fs::symlink(target, path)?,
        }
    }
    Ok(())
}
