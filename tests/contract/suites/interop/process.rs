//! Runs a child process, and reads its output while it runs. The child process is killed at the latest when its
//! [`Process`] is dropped.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::env::send_signal;

/// The time limit of a wait, longer than any successful wait on a busy machine.
pub const SECONDS: u64 = 150;

/// The output that the program has written so far to standard output or standard error.
#[derive(Default)]
struct CapturedOutput {
    text: Mutex<(Vec<u8>, bool)>,
    more: Condvar,
}

impl CapturedOutput {
    fn capture(self: &Arc<CapturedOutput>, mut stream: impl Read + Send + 'static) -> JoinHandle<()> {
        let output = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; 16384];
            loop {
                let n = stream.read(&mut buffer).unwrap_or(0);
                let mut text = output.text.lock().expect("no listener panics");
                text.0.extend_from_slice(&buffer[..n]);
                text.1 |= n == 0;
                output.more.notify_all();
                if n == 0 {
                    return;
                }
            }
        })
    }

    fn now(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().expect("no listener panics").0).into_owned()
    }

    /// Waits until `found` returns a value for the output so far. Returns `None` if the program closes the stream or
    /// the time limit expires first.
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
    out: Arc<CapturedOutput>,
    err: Arc<CapturedOutput>,
    readers: Vec<JoinHandle<()>>,
}

/// The standard input of the program.
pub enum Input<'a> {
    Nothing,
    File(&'a Path),
    /// A pipe: [`Process::write_input`] writes to it, and [`Process::close_input`] closes it.
    Pipe,
}

pub struct Ended {
    line: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Returns the command line, the exit code and parts of both outputs, for failure messages.
    pub fn transcript(&self) -> String {
        let head: String = self.err.chars().take(1500).collect();
        let tail = |text: &str| -> String {
            let short: Vec<&str> = text.lines().filter(|line| line.len() < 400).collect();
            short[short.len().saturating_sub(60)..].join("\n")
        };
        format!("$ {}\n(ended with {:?})\n{}\n{}", self.line, self.code, tail(&self.out), tail(&head))
    }

    /// Returns true if standard output or standard error has this line, ignoring spaces around it.
    pub fn has_line(&self, wanted: &str) -> bool {
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
            Input::Pipe => Stdio::piped(),
        };
        let mut command = Command::new(&words[0]);
        // Makes the run independent of the user's settings: OpenSSL reads an empty configuration file, and messages are
        // in English.
        command.args(&words[1..]).env("LD_LIBRARY_PATH", library).env("LC_ALL", "C").env("OPENSSL_CONF", "/dev/null");
        for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"] {
            command.env_remove(variable);
        }
        // The program gets its own process group, so that its child processes can be ended with it.
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{line}: {error}"))?;
        let (out, err) = (Arc::new(CapturedOutput::default()), Arc::new(CapturedOutput::default()));
        let readers =
            vec![out.capture(child.stdout.take().expect("piped")), err.capture(child.stderr.take().expect("piped"))];
        Ok(Process { line, stdin: child.stdin.take(), child, out, err, readers })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that starts with `beginning` on standard output or, if `on_error` is set, on standard error.
    /// Returns the rest of the line.
    pub fn line_after(&self, beginning: &str, on_error: bool) -> Result<String, String> {
        let output = if on_error { &self.err } else { &self.out };
        let found = output.wait(|text| {
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

    /// Writes to the program's standard input. A write error is ignored, because the program may have ended already.
    pub fn write_input(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Sends the program a signal to terminate.
    pub fn terminate(&self) {
        send_signal("TERM", &self.id().to_string());
    }

    /// Closes the standard input of the program, and waits until the program has ended and its output has been read.
    /// After the time limit, kills the program, which then has no exit code.
    pub fn finish(mut self) -> Ended {
        self.close_input();
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
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
        let line = std::mem::take(&mut self.line);
        Ended { line, code: status.and_then(|status| status.code()), out: self.out.now(), err: self.err.now() }
    }

    fn kill(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            send_signal("KILL", &format!("-{}", self.child.id()));
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
