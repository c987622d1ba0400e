//! Starts and stops the misbehaving server of tests/server.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::env::Env;

/// The server's time limit in seconds. No suite needs that long, not even under valgrind on a busy machine.
const SECONDS: &str = "3600";

pub struct Server {
    process: Child,
    dir: PathBuf,
    ports: Vec<(String, String)>,
    sha256: String,
}

impl Server {
    pub fn start(env: &Env, scratch: &Path) -> Result<Server, String> {
        let built = env
            .command(env!("CARGO"))
            .args(["build", "--quiet", "--package", "netlib-misbehaving-server", "--target-dir"])
            .arg(&env.target)
            .run(1200);
        built.or_text()?;
        let dir = scratch.join("server");
        std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
        // The server ends when its standard input is closed, which happens at the latest when this process ends.
        let process = Command::new(env.target.join("debug/misbehaving-server"))
            .arg(&dir)
            .arg(SECONDS)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| format!("misbehaving-server: {error}"))?;
        let mut server = Server { process, dir, ports: Vec::new(), sha256: String::new() };
        let list = server.wait_for_ports()?;
        server.ports =
            list.lines().filter_map(|line| line.split_once('=')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        server.sha256 = std::fs::read_to_string(server.file("sha256")).map_err(|error| error.to_string())?;
        Ok(server)
    }

    fn wait_for_ports(&mut self) -> Result<String, String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok(list) = std::fs::read_to_string(self.dir.join("ports")) {
                return Ok(list);
            }
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("misbehaving-server ended with {status}"));
            }
            if Instant::now() > deadline {
                return Err("misbehaving-server did not start".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Replaces placeholders. A service's name such as `{https}` stands for its port number, `{server}` for the
    /// server's directory, `{requests}` for the list of requests that the server received, `{abstract}` for the name of
    /// the server's socket in the abstract namespace, and `{sha256}` for the fingerprint of the certificate at
    /// `{https}`.
    pub fn fill_in(&self, text: &str) -> String {
        let file = |name: &str| self.file(name).display().to_string();
        let mut text = text.replace("{server}", &file("")).replace("{requests}", &file("requests"));
        text = text.replace("{sha256}", &self.sha256);
        for (name, port) in &self.ports {
            text = text.replace(&format!("{{{name}}}"), port);
        }
        text
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
