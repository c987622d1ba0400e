//! Generates `include/netlib.hpp`, the C++ interface: the template `src/ffi/netlib.hpp.in` contains the types that all
//! functions share, and the classes and functions come from netlib.h.

pub mod callbacks;
pub mod calls;
pub mod classes;
pub mod enums;
pub mod names;
pub mod samples;

use std::path::Path;

use crate::model::Header;

/// Returns the whole text of `include/netlib.hpp`.
pub fn generate(root: &Path, header: &Header) -> String {
    let template = std::fs::read_to_string(root.join("src/ffi/netlib.hpp.in")).expect("src/ffi/netlib.hpp.in");
    let written = classes::write(header);
    template
        .replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
        .replace("@ENUMS@\n", &enums::write(header))
        .replace("@CLASSES@\n", &written.classes)
        .replace("@STRUCTS@\n", &written.structs)
        .replace("@FUNCTIONS@\n", &written.functions)
        .replace("@CALLBACKS@\n", &callbacks::write(header))
        .replace("@DEFINITIONS@\n", &written.definitions)
}

/// Adds a line of code. Breaks a line of more than 118 columns after commas and around operators.
fn wrap(line: &str, out: &mut String) {
    const WIDTH: usize = 118;
    let indent = line.len() - line.trim_start().len() + 4;
    let mut rest = line.to_owned();
    while rest.len() > WIDTH {
        let head = &rest[..WIDTH];
        let Some(at) = head.rfind(", ").map(|at| at + 1).or_else(|| head.rfind(" : ")) else { break };
        out.push_str(head[..at].trim_end());
        out.push('\n');
        rest = " ".repeat(indent) + rest[at..].trim_start();
    }
    out.push_str(&rest);
    out.push('\n');
}
