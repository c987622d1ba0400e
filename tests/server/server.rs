//! A server that misbehaves on purpose, for the tests and the demo. The server listens on free loopback ports.
//!
//!     misbehaving-server DIR [SECONDS]   serves until its standard input closes, or for SECONDS (default 600)
//!     misbehaving-server sha256 FILE     prints the file's SHA-256
//!
//! The server writes these files to DIR: `ca.pem` and `proxy-ca.pem`, the roots to trust for servers and for proxies;
//! `ca/root.pem`, a copy of `ca.pem` in a directory of its own; `crl.pem`; `sha256`, the digest of the certificate of
//! `https`; and the Unix domain sockets `http.sock`, `https.sock` and `proxy.sock`. When all ports listen, the server
//! creates `ports` atomically, with a line `name=port` for each port and `abstract=NAME` for a socket in the abstract
//! namespace. Before the server answers a request, it adds a line to `requests`. `ports.rs` defines the ports,
//! `unix.rs` the Unix domain sockets, `scenarios.rs` the behaviour for each path, and `proxy.rs` the behaviour of the
//! proxy.

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

/// Runs the server until its standard input is closed or `seconds` have passed. Then the process ends with all its
/// threads. The process that started the server holds the other end of the pipe, so the server cannot outlive that
/// process.
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
    write_atomically(&dir, "ca.pem", &certificates.root_pem)?;
    write_atomically(&dir, "ca/root.pem", &certificates.root_pem)?;
    write_atomically(&dir, "proxy-ca.pem", &certificates.proxy_root_pem)?;
    write_atomically(&dir, "crl.pem", &certificates.crl_pem)?;
    write_atomically(&dir, "sha256", &scenarios::sha256(&certificates.good_der))?;
    let open = ports::open(&certificates)?;
    let mut list: String = open.iter().map(|port| format!("{}={}\n", port.name, port.number)).collect();
    let state = Arc::new(scenarios::SharedState::new(&dir, &open)?);
    let _reserved = ports::start(open, &state);
    list += &format!("abstract={}\n", unix::start(&certificates, &state)?);
    write_atomically(&dir, "ports", &list)?;
    std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink())?;
    Ok(())
}

/// Writes the file atomically.
fn write_atomically(dir: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let draft = dir.join(format!("{name}.draft"));
    std::fs::write(&draft, text)?;
    std::fs::rename(draft, dir.join(name))
}
