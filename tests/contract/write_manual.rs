//! Writes the man pages. scripts/man compiles this program with rustc alone, so that packages with man pages need no
//! development build of netlib.
//!
//! usage: write_manual DIRECTORY DATE

// This program uses only a part of the modules that it shares with the contract tests.
#![allow(dead_code)]

mod cdef;
mod description;
mod json;
mod manual;
mod model;

use std::path::Path;

use manual::File;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, directory, date] = args.as_slice() else {
        eprintln!("usage: write_manual DIRECTORY DATE");
        std::process::exit(2);
    };
    for (path, file) in manual::files(Path::new("."), date) {
        let path = Path::new(directory).join(path);
        std::fs::create_dir_all(path.parent().expect("a file in a directory"))?;
        match file {
            File::Text(text) => std::fs::write(path, text)?,
            File::Link(target) => std::os::unix::fs::symlink(target, path)?,
        }
    }
    Ok(())
}
