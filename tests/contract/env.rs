//! Finds the directories, libraries and tools that the tests use, and runs programs with a time limit or in parallel.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::model::Header;

/// The compiler's warning flags for all C code of the project.
pub const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// The build of the library that the suites test.
#[derive(Clone, Copy)]
pub enum Build {
    /// The development profile, in which cargo has built the library together with this program.
    Development,
    /// The release build that users get, with link-time optimisation.
    Release,
}

pub struct Env {
    pub root: PathBuf,
    /// cargo's target directory.
    pub target: PathBuf,
    build: Build,
    development: PathBuf,
    release: OnceLock<PathBuf>,
}

impl Env {
    pub fn new(build: Build) -> Env {
        let target = Path::new(std::env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp").to_owned();
        // cargo puts the shared library into the directory of this program.
        let program = std::env::current_exe().expect("this program has a path");
        let development = program.parent().expect("it is in a directory").to_owned();
        Env {
            root: PathBuf::from(std::env!("CARGO_MANIFEST_DIR")),
            target,
            build,
            development,
            release: OnceLock::new(),
        }
    }

    /// The directory with the shared library that the suites test.
    pub fn library(&self) -> &Path {
        match self.build {
            Build::Development => self.development_library(),
            Build::Release => self.release_library(),
        }
    }

    /// The directory with the shared and the static library that users get, built on first use.
    pub fn release_library(&self) -> &Path {
        self.release.get_or_init(|| {
            let out = self.target.join("netlib");
            let built = self.command("scripts/build-lib").arg(&out).env("CARGO_TARGET_DIR", &self.target).run(1800);
            assert!(built.ok, "scripts/build-lib failed:\n{}", built.text);
            out
        })
    }

    /// The directory with the shared library of the development profile.
    ///
    /// Programs under valgrind always use the development build. Optimised code may branch on an uninitialised value if
    /// both branches have the same result, and valgrind would report the branch as an error.
    pub fn development_library(&self) -> &Path {
        &self.development
    }

    /// Creates an empty directory for a suite.
    pub fn scratch(&self, suite: &str) -> PathBuf {
        let directory = self.target.join("contract").join(suite);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("a directory under target");
        directory
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Returns the SONAME of the shared library.
    pub fn soname(&self) -> String {
        self.read("abi/soname").trim_end().to_owned()
    }

    pub fn header_text(&self) -> String {
        self.read("include/netlib.h")
    }

    pub fn header(&self) -> Header {
        Header::parse(&self.header_text())
    }

    /// Returns the files in `directory` whose names start with `prefix` and end with `suffix`, sorted.
    pub fn files(&self, directory: impl AsRef<Path>, prefix: &str, suffix: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.root.join(directory))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file| file.is_file() && name(file).starts_with(prefix) && name(file).ends_with(suffix));
        files.sort();
        files
    }

    /// Returns the C tests, sorted: `test_NAME.c` in any folder of c-tests except c-tests/tsan, whose programs need
    /// ThreadSanitizer.
    pub fn c_tests(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.root.join("c-tests")];
        let mut tests = Vec::new();
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
            folders.extend(entries.filter(|path| path.is_dir() && name(path) != "tsan"));
            tests.extend(self.files(folder, "test_", ".c"));
        }
        tests.sort_by(|one, other| name(one).cmp(name(other)));
        tests
    }

    /// Returns a command that runs `program` in the project's root directory.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Program {
        let program = program.as_ref();
        let mut command = match program.to_str().is_some_and(|name| name.contains('/')) {
            true => Command::new(self.root.join(program)),
            false => Command::new(program),
        };
        command.current_dir(&self.root).stdin(Stdio::null());
        Program(command)
    }

    /// Returns a command that runs the C compiler: the value of the variable CC, or `cc`.
    pub fn cc(&self) -> Program {
        self.command(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
    }

    /// Returns a command that runs the C compiler for C11 with the project's warning flags and include directories.
    pub fn strict_cc(&self) -> Program {
        let mut cc = self.cc();
        cc.args(["-std=c11", "-g", "-Iinclude", "-Ic-tests", "-Ic-tests/support"])
            .args(STRICT)
            .arg("-Wstrict-prototypes");
        cc
    }

    /// Compiles and links one C file with the shared library in the directory `library`.
    pub fn compile(&self, source: &Path, out: &Path, library: &Path) -> Result<(), String> {
        self.strict_cc().arg(source).arg("-o").arg(out).link_to(library).run(300).or_text()
    }
}

/// A command that runs with a time limit and captures its output.
pub struct Program(Command);

impl Program {
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Program {
        self.0.arg(arg);
        self
    }

    pub fn args<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) -> &mut Program {
        self.0.args(args);
        self
    }

    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Program {
        self.0.env(name, value);
        self
    }

    /// Adds the arguments that link a program with the shared library in a directory, POSIX threads and libm.
    pub fn link_to(&mut self, library: &Path) -> &mut Program {
        let mut directory = std::ffi::OsString::from("-L");
        directory.push(library);
        self.arg(directory).args(["-lnetlib", "-lm", "-pthread"])
    }

    /// Lets the program load shared libraries from a directory. Removes the environment variables that a TLS context
    /// reads, because cargo sets some of them.
    pub fn load_from(&mut self, library: &Path) -> &mut Program {
        for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"] {
            self.0.env_remove(variable);
        }
        self.env("LD_LIBRARY_PATH", library)
    }

    /// Runs the command, and kills the program if it has not ended after `seconds`.
    pub fn run(&mut self, seconds: u64) -> Ran {
        let name = self.0.get_program().to_string_lossy().into_owned();
        // The program gets its own process group, so that its child processes can be killed with it.
        let spawned = self.0.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => return Ran { ok: false, code: None, out: String::new(), text: format!("{name}: {error}") },
        };
        let (mut stdout, mut stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stdout.read_to_end(&mut bytes);
            bytes
        });
        let error_reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            bytes
        });
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let mut pause = Duration::from_micros(200);
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                _ if Instant::now() > deadline => {
                    send_signal("KILL", &format!("-{}", child.id()));
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                _ => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let out = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
        let mut text = out.clone() + &String::from_utf8_lossy(&error_reader.join().unwrap_or_default());
        match status {
            None => text += &format!("\n{name} was killed, because it was still running after {seconds} s"),
            Some(status) if status.code().is_none() => text += &format!("\n{name} ended by {status}"),
            Some(_) => {}
        }
        Ran { ok: status.is_some_and(|s| s.success()), code: status.and_then(|s| s.code()), out, text }
    }
}

/// Sends a signal to a process, or to a process group if `target` begins with a minus sign. Every shell has a command
/// `kill`, but not every machine has the program.
pub fn send_signal(signal: &str, target: &str) {
    let _ = Command::new("sh").args(["-c", "kill -s \"$1\" -- \"$2\"", "sh", signal, target]).status();
}

/// The exit code and the output of a program that has run.
pub struct Ran {
    pub ok: bool,
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard output, then standard error, then a line if the program was killed or a signal ended it.
    pub text: String,
}

impl Ran {
    pub fn or_text(self) -> Result<(), String> {
        if self.ok { Ok(()) } else { Err(self.text) }
    }
}

pub fn name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or("?")
}

pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(OsStr::to_str).unwrap_or("?")
}

/// Returns the path of a program, if a directory of PATH contains the program.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

pub fn has(program: &str) -> bool {
    find(program).is_some()
}

/// Applies `work` to each item on all processors. Returns the results in the order of the items.
pub fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get()).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| items.get(at).map(|item| (at, item)))
                {
                    let result = work(item);
                    results.lock().expect("no worker panics holding it").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("the workers are done");
    results.sort_by_key(|&(at, _)| at);
    results.into_iter().map(|(_, result)| result).collect()
}
