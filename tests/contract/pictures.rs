//! Draws the pictures of `docs/pictures`. Each picture has a source in the repository: the demo's output and the
//! simulated race, which are recorded, and the diagram in docs/explanation/architecture.md.

mod architecture;
mod demo;
mod race;
pub mod svg;

use std::process::ExitCode;

use crate::env::Env;

pub use demo::{RECORDING, difference};

/// Returns the path and the text of each picture.
pub fn all(env: &Env) -> Vec<(&'static str, String)> {
    vec![
        ("docs/pictures/architecture.svg", architecture::draw(&env.read("docs/explanation/architecture.md"))),
        ("docs/pictures/demo.svg", demo::draw(&env.read(RECORDING))),
        ("docs/pictures/race.svg", race::draw(&env.read("docs/pictures/race.txt"))),
    ]
}

/// Runs the demo and records its output. `bless` then draws the picture.
pub fn record(env: &Env) -> ExitCode {
    let ran = env.command("scripts/demo.sh").env("CARGO_TARGET_DIR", &env.target).run(600);
    if !ran.ok {
        eprintln!("scripts/demo.sh failed\n{}", ran.text);
        return ExitCode::FAILURE;
    }
    match std::fs::write(env.root.join(RECORDING), demo::trace(&ran.out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{RECORDING}: {error}");
            ExitCode::FAILURE
        }
    }
}
