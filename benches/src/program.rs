//! A measured program that runs as long as the benchmark: it does its work once for each line of standard input, and
//! then prints a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::timing;

pub struct Program {
    name: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    clock: libc::clockid_t,
}

/// The measurement of the work for one line.
pub struct Pass {
    /// The processor time of all threads of the program, in ns.
    pub processor: f64,
    /// The elapsed time in ns.
    pub elapsed: f64,
    /// The line that the program printed.
    pub printed: String,
}

impl Program {
    /// Starts a program. A script must replace its shell with the program (exec).
    pub fn start(name: &str, command: &mut Command) -> Result<Program, String> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|e| format!("{name}: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{name}: the program has no pipes"));
        };
        let mut clock = 0;
        if unsafe { libc::clock_getcpuclockid(child.id() as libc::pid_t, &mut clock) } != 0 {
            return Err(format!("{name}: the program has no clock"));
        }
        Ok(Program { name: name.into(), child, input, output: BufReader::new(output), clock })
    }

    /// Sends a line, and waits for the line that the program prints.
    pub fn pass(&mut self, line: &str) -> Result<Pass, String> {
        let (start, processor) = (Instant::now(), timing::time(self.clock));
        let mut printed = String::new();
        let failed = |e: std::io::Error| format!("{}: {e}", self.name);
        self.input.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        self.output.read_line(&mut printed).map_err(failed)?;
        if !printed.ends_with('\n') {
            return Err(format!("{}: the program has ended", self.name));
        }
        let (processor, elapsed) = (timing::time(self.clock) - processor, start.elapsed().as_nanos() as f64);
        Ok(Pass { processor, elapsed, printed: printed.trim_end().to_owned() })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
