//! Builds the library with a sanitizer and links programs with the instrumented library. The library and the program
//! share the Rust toolchain's sanitizer runtime, which is linked into the program. gcc's runtime is not used, because
//! it may lack functions that code compiled by rustc calls.

use std::path::{Path, PathBuf};

use crate::env::Env;

/// A sanitizer; rustc and the C compiler know it as `name`.
pub struct Sanitizer {
    pub name: &'static str,
    /// The sanitizer's NAME in the file name of its runtime, librustc-stable_rt.NAME.a, and the name of its directory
    /// under target.
    pub short: &'static str,
}

/// The parts of the Rust toolchain that an instrumented build needs.
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

    /// Returns the directory of the Rust toolchain's precompiled crates.
    pub fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(&self.host).join("lib")
    }
}

/// The build settings that only some sanitizers need.
#[derive(Default)]
pub struct How {
    /// The rustc flags for each crate of the dependency tree.
    pub rustflags: &'static str,
    /// The rustc flags for netlib itself.
    pub last: Vec<String>,
    pub env: Vec<(String, String)>,
    /// The object files that are linked into each program.
    pub objects: Vec<PathBuf>,
}

/// A library that is instrumented by a sanitizer.
pub struct Instrumented {
    pub library: PathBuf,
    flag: String,
    runtime: PathBuf,
    objects: Vec<PathBuf>,
}

impl Instrumented {
    pub fn new(env: &Env, sanitizer: &Sanitizer, toolchain: &Toolchain, how: How) -> Result<Instrumented, String> {
        let target = env.target.join(sanitizer.short);
        // With an explicit target, cargo does not apply the rustc flags to build scripts, which must not be
        // instrumented.
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

    /// Returns the C compiler's flag for the sanitizer.
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
