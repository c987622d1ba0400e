//! Draws the pictures of `docs/pictures`. Each picture has a source in the repository: the output of the demo and of
//! examples-c/storm and the simulated race, which are recorded, and the diagram in docs/explanation/architecture.md.

mod architecture;
mod demo;
mod race;
mod storm;
pub mod svg;

use std::process::ExitCode;

use crate::env::Env;
use crate::suites;

pub use demo::{RECORDING, difference};
pub use storm::RECORDINGS as STORM_RECORDINGS;

/// Returns the path and the text of each picture.
pub fn all(env: &Env) -> Vec<(&'static str, String)> {
    vec![
        ("docs/pictures/architecture.svg", architecture::draw(&env.read("docs/explanation/architecture.md"))),
        ("docs/pictures/demo.svg", demo::draw(&env.read(RECORDING))),
        ("docs/pictures/race.svg", race::draw(&env.read("docs/pictures/race.txt"))),
        ("docs/pictures/storm.svg", storm::draw(&env.read("docs/pictures/storm.csv"))),
        ("docs/pictures/storm-phases.svg", storm::draw_phases(&env.read("docs/pictures/storm-phases.csv"))),
    ]
}

/// Runs the demo and records its output. `bless` then draws the picture.
pub fn record_demo(env: &Env) -> ExitCode {
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

/// Runs the simulations of examples-c/storm, prints their table, and records their output. `bless` then draws the
/// pictures.
pub fn record_storm(env: &Env) -> ExitCode {
    let recorded = suites::storm::outputs(env).and_then(|outputs| {
        for (file, text) in outputs {
            std::fs::write(env.root.join(file), &text).map_err(|error| format!("{file}: {error}"))?;
            if file.ends_with(".txt") {
                print!("{text}");
            }
        }
        Ok(())
    });
    match recorded {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
