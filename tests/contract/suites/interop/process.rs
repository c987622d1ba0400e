//! A child process whose output is read while it runs, and which ends when this process ends.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longer than any successful wait, even on a busy machine.
pub const SECONDS: u64 = 150;

/// The output of one stream of the program so far.
#[derive(Default)]
struct Said {
    text: Mutex<(Vec<u8>, bool)>,
    more: Condvar,
}

impl Said {
    fn listen(self: &Arc<Said>, mut stream: impl Read + Send + 'static) -> JoinHandle<()> {
        let said = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; 16384];
            loop {
                let n = stream.read(&mut buffer).unwrap_or(0);
                let mut text = said.text.lock().expect("no listener panics");
                text.0.extend_from_slice(&buffer[..n]);
                text.1 |= n == 0;
                said.more.notify_all();
                if n == 0 {
                    return;
                }
            }
        })
    }

    fn now(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().expect("no listener panics").0).into_owned()
    }

    /// Waits until `found` finds something; returns `None` if the stream or the time ends first.
    fn wait<T>(&self, found: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + Duration::from_secs(SECONDS);
        let mut text = self.text.lock().expect("no listener panics");
        loop {
            if let Some(result) = found(&text.0) {
                return Some(result);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if text.1 || left.is_zero() {
                return None;
            }
            text = self.more.wait_timeout(text, left).expect("no listener panics").0;
        }
    }
}

pub struct Process {
    line: String,
    child: Child,
    stdin: Option<ChildStdin>,
    out: Arc<Said>,
    err: Arc<Said>,
    listeners: Vec<JoinHandle<()>>,
}

/// The standard input of the program.
pub enum Input<'a> {
    Nothing,
    File(&'a Path),
    /// The input comes from [`Process::say`], until [`Process::hang_up`].
    Kept,
}

pub struct Ended {
    line: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Returns the command line and both outputs, for the report of a failure.
    pub fn story(&self) -> String {
        let head: String = self.err.chars().take(1500).collect();
        let tail = |text: &str| -> String {
            let short: Vec<&str> = text.lines().filter(|line| line.len() < 400).collect();
            short[short.len().saturating_sub(60)..].join("\n")
        };
        format!("$ {}\n(ended with {:?})\n{}\n{}", self.line, self.code, tail(&self.out), tail(&head))
    }

    /// Returns true if either stream has this line, without surrounding blanks.
    pub fn says(&self, wanted: &str) -> bool {
        self.out.lines().chain(self.err.lines()).any(|line| line.trim() == wanted)
    }

    pub fn contains(&self, wanted: &str) -> bool {
        self.out.contains(wanted) || self.err.contains(wanted)
    }
}

impl Process {
    pub fn start(words: &[String], library: &Path, input: Input) -> Result<Process, String> {
        let line = words.join(" ");
        let stdin = match &input {
            Input::Nothing => Stdio::null(),
            Input::File(path) => {
                Stdio::from(File::open(path).map_err(|error| format!("{}: {error}", path.display()))?)
            }
            Input::Kept => Stdio::piped(),
        };
        let mut command = Command::new(&words[0]);
        // Ignores the settings of the machine: the library's own configuration is empty, and messages are in English.
        command.args(&words[1..]).env("LD_LIBRARY_PATH", library).env("LC_ALL", "C").env("OPENSSL_CONF", "/dev/null");
        for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"] {
            command.env_remove(variable);
        }
        // A process group of its own, so that its child processes end with it.
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{line}: {error}"))?;
        let (out, err) = (Arc::new(Said::default()), Arc::new(Said::default()));
        let listeners =
            vec![out.listen(child.stdout.take().expect("piped")), err.listen(child.stderr.take().expect("piped"))];
        Ok(Process { line, stdin: child.stdin.take(), child, out, err, listeners })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line with this beginning on standard output, or on standard error. Returns the rest of the line.
    pub fn line_after(&self, beginning: &str, on_error: bool) -> Result<String, String> {
        let said = if on_error { &self.err } else { &self.out };
        let found = said.wait(|text| {
            let text = String::from_utf8_lossy(text);
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            whole.lines().find_map(|line| line.strip_prefix(beginning)).map(|rest| rest.trim().to_owned())
        });
        found.ok_or_else(|| {
            format!("$ {}\ndid not say \"{beginning}\"\n{}\n{}", self.line, self.out.now(), self.err.now())
        })
    }

    /// Waits until standard output ends with these bytes, or until the program ends.
    pub fn wait_for(&self, bytes: &[u8]) {
        let _ = self.out.wait(|text| text.ends_with(bytes).then_some(()));
    }

    /// Waits until the program closes its standard output, for example by ending.
    pub fn wait_for_end(&self) {
        let _ = self.out.wait(|_| None::<()>);
    }

    /// Writes to standard input. If the program has ended already, the write fails, which is not an error here.
    pub fn say(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Asks the program to end.
    pub fn terminate(&self) {
        let _ = Command::new("kill").args(["-TERM", &self.id().to_string()]).status();
    }

    /// Waits until the program has ended and its output has been read. After the time limit it is killed, which its
    /// exit code shows.
    pub fn finish(mut self) -> Ended {
        self.hang_up();
        let deadline = Instant::now() + Duration::from_secs(SECONDS);
        let mut pause = Duration::from_micros(200);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                _ if Instant::now() > deadline => break None,
                _ => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        self.kill();
        self.listeners.drain(..).for_each(|listener| drop(listener.join()));
        let line = std::mem::take(&mut self.line);
        Ended { line, code: status.and_then(|status| status.code()), out: self.out.now(), err: self.err.now() }
    }

    fn kill(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
