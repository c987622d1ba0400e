//! A server that misbehaves on purpose, for the tests and the demo. It listens on free loopback ports.
//!
//!     misbehaving-server DIR [SECONDS]   serves until its standard input closes, or for SECONDS (default 600)
//!     misbehaving-server sha256 FILE     prints the file's SHA-256
//!
//! In DIR it leaves `ca.pem` and `proxy-ca.pem` (the roots to trust for servers and for proxies), `ca/root.pem` (the
//! first again, alone in a directory), `crl.pem`, `sha256` (that of the certificate of `https`), and the Unix domain
//! sockets `http.sock`, `https.sock` and `proxy.sock`, then `ports` (`name=port` a line, and `abstract=NAME` for a
//! socket without a path; made in one step once all of them listen), and it adds a line to `requests` for each request
//! that arrived, before it is answered.
//! What each port does is in `ports.rs`, what each socket in `unix.rs`, what each path does in `scenarios.rs`, what a
//! proxy does in `proxy.rs`.

mod certificates;
mod connection;
mod ports;
mod proxy;
mod request;
mod scenarios;
mod tunnel;
mod unix;

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["sha256", file] => print_sha256(Path::new(file)),
        [dir] => serve(dir.into(), 600),
        [dir, seconds] => seconds.parse().map_err(Into::into).and_then(|seconds| serve(dir.into(), seconds)),
        _ => Err("usage: misbehaving-server DIR [SECONDS] | misbehaving-server sha256 FILE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("misbehaving-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_sha256(file: &Path) -> Result<(), Box<dyn Error>> {
    println!("{}", scenarios::sha256(&std::fs::read(file)?));
    Ok(())
}

/// Returns when standard input closes, which ends the process with all its threads. The starter of the server holds the
/// other end, so the server cannot outlive it.
fn serve(dir: PathBuf, seconds: u64) -> Result<(), Box<dyn Error>> {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        eprintln!("misbehaving-server: {seconds} seconds have passed");
        std::process::exit(1);
    });
    let certificates = certificates::make()?;
    std::fs::create_dir_all(dir.join("ca"))?;
    let dir = dir.canonicalize()?;
    std::env::set_current_dir(&dir)?;
    write_at_once(&dir, "ca.pem", &certificates.root_pem)?;
    write_at_once(&dir, "ca/root.pem", &certificates.root_pem)?;
    write_at_once(&dir, "proxy-ca.pem", &certificates.proxy_root_pem)?;
    write_at_once(&dir, "crl.pem", &certificates.crl_pem)?;
    write_at_once(&dir, "sha256", &scenarios::sha256(&certificates.good_der))?;
    let open = ports::open(&certificates)?;
    let mut list: String = open.iter().map(|port| format!("{}={}\n", port.name, port.number)).collect();
    let world = Arc::new(scenarios::World::new(&dir, &open)?);
    let _reserved = ports::start(open, &world);
    list += &format!("abstract={}\n", unix::start(&certificates, &world)?);
    write_at_once(&dir, "ports", &list)?;
    std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink())?;
    Ok(())
}

/// Writes the file atomically.
fn write_at_once(dir: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let draft = dir.join(format!("{name}.draft"));
    std::fs::write(&draft, text)?;
    std::fs::rename(draft, dir.join(name))
}
