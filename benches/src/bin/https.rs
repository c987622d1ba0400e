//! Runs the HTTPS server of the table `client`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match netlib_bench::client::server::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
