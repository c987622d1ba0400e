//! `make bench`: what takes how long. Arguments select.

use std::process::ExitCode;

use netlib_bench::rng::Rng;
use netlib_bench::urls;

fn main() -> ExitCode {
    let mut rng = Rng::new(1);
    match urls::run(&mut rng) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
