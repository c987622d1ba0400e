//! The library built with a sanitizer, and programs linked with it. The runtime is the one that comes with the Rust
//! toolchain: it is linked into the program, where both halves find it. (gcc's own may be older than the calls that
//! rustc makes.)

use std::path::{Path, PathBuf};

use crate::env::Env;

/// A sanitizer, by the name that rustc and the C compilers have for it.
pub struct Sanitizer {
    pub name: &'static str,
    /// What its runtime is called: librustc-stable_rt.NAME.a. Its build has a directory of this name under target.
    pub short: &'static str,
}

/// The toolchain's parts that an instrumented build needs.
pub struct Toolchain {
    pub host: String,
    pub sysroot: PathBuf,
    pub runtime: PathBuf,
}

impl Toolchain {
    pub fn new(env: &Env, sanitizer: &Sanitizer) -> Result<Toolchain, String> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let ask = |args: &[&str]| env.command(&rustc).args(args).run(60).out;
        let version = ask(&["-vV"]);
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("").to_owned();
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"]).trim());
        let libraries = sysroot.join("lib/rustlib").join(&host).join("lib");
        let named = |channel| libraries.join(format!("librustc-{channel}_rt.{}.a", sanitizer.short));
        let runtime = ["stable", "nightly"].map(named).into_iter().find(|file| file.is_file());
        let missing = || format!("this Rust toolchain has no runtime for the {} sanitizer on {host}", sanitizer.name);
        Ok(Toolchain { runtime: runtime.ok_or_else(missing)?, host, sysroot })
    }

    /// Where the crates that come compiled are.
    pub fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(&self.host).join("lib")
    }
}

/// How the library is built, beyond what every sanitizer needs.
#[derive(Default)]
pub struct How {
    /// Of rustc, for each crate.
    pub rustflags: &'static str,
    /// Of rustc, for the library itself.
    pub last: Vec<String>,
    pub env: Vec<(String, String)>,
    /// What each program is linked with besides.
    pub objects: Vec<PathBuf>,
}

/// A library that was built so.
pub struct Instrumented {
    pub library: PathBuf,
    flag: String,
    runtime: PathBuf,
    objects: Vec<PathBuf>,
}

impl Instrumented {
    pub fn new(env: &Env, sanitizer: &Sanitizer, toolchain: &Toolchain, how: How) -> Result<Instrumented, String> {
        let target = env.target.join(sanitizer.short);
        // The target is named so that build scripts, which run here and now, are not instrumented.
        let mut cargo = env.command(std::env!("CARGO"));
        cargo.args(["rustc", "--lib", "--crate-type", "cdylib", "--target", &toolchain.host]);
        cargo.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1");
        cargo.env("RUSTFLAGS", format!("-Zsanitizer={} {}", sanitizer.name, how.rustflags).trim_end());
        for (name, value) in &how.env {
            cargo.env(name, value);
        }
        if !how.last.is_empty() {
            cargo.arg("--").args(&how.last);
        }
        let built = cargo.run(3600).or_text();
        built.map_err(|text| format!("the instrumented library does not build\n{text}"))?;
        Ok(Instrumented {
            library: target.join(&toolchain.host).join("debug"),
            flag: format!("-fsanitize={}", sanitizer.name),
            runtime: toolchain.runtime.clone(),
            objects: how.objects,
        })
    }

    /// What the C compiler needs to be told to instrument.
    pub fn flag(&self) -> &str {
        &self.flag
    }

    pub fn compile(&self, env: &Env, source: &Path, program: &Path) -> Result<(), String> {
        let object = program.with_extension("o");
        env.strict_cc().args([self.flag(), "-c"]).arg(source).arg("-o").arg(&object).run(300).or_text()?;
        self.link(env, &object, program)
    }

    pub fn link(&self, env: &Env, object: &Path, program: &Path) -> Result<(), String> {
        let mut cc = env.cc();
        cc.arg(object).args(&self.objects).arg("-o").arg(program);
        cc.arg("-Wl,--whole-archive").arg(&self.runtime).args(["-Wl,--no-whole-archive", "-Wl,--export-dynamic"]);
        cc.link_to(&self.library).args(["-ldl", "-lrt"]).run(300).or_text()
    }
}
