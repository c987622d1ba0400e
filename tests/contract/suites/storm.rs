//! Runs the simulations of examples-c/storm, and compares their output with the recorded output in docs/pictures. The
//! numbers of the recorded table must show that budgets bound the load, and that the server recovers with them.

use crate::env::{Env, parallel};
use crate::pictures::STORM_RECORDINGS;
use crate::report::Report;
use crate::suites::examples;

/// Runs the simulations. Returns the path of each recording, and the text to record.
pub fn outputs(env: &Env) -> Result<Vec<(&'static str, String)>, String> {
    let program = env.scratch("storm").join("storm");
    let example = examples::programs(env).into_iter().find(|example| example.name == "storm");
    examples::build(env, &example.ok_or("there is no examples-c/storm.c")?, &program, env.library())?;
    let run = |(file, argument): &(&'static str, &str)| {
        let ran = env.command(&program).arg(argument).load_from(env.library()).run(900);
        if ran.ok { Ok((*file, ran.out)) } else { Err(format!("storm {argument} failed\n{}", ran.text)) }
    };
    parallel(STORM_RECORDINGS, run).into_iter().collect()
}

pub fn run(env: &Env, report: &mut Report) {
    match outputs(env) {
        Ok(outputs) => {
            for (file, text) in outputs {
                compare(file, &env.read(file), &text, report);
            }
        }
        Err(text) => return report.fail(text),
    }
}

/// Fails if the recorded output differs from a new one, and names the first line that differs.
fn compare(file: &str, recorded: &str, text: &str, report: &mut Report) {
    let differing = recorded.lines().zip(text.lines()).enumerate().find(|(_, (old, new))| old != new);
    let what = match differing {
        Some((line, (old, new))) => format!("line {}: recorded \"{old}\", printed \"{new}\"", line + 1),
        None => format!("recorded {} lines, printed {}", recorded.lines().count(), text.lines().count()),
    };
    report.check(recorded == text, format!("{file} is not what examples-c/storm prints: {what}; run `make storm`"));
}
