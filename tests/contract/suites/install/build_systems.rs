//! Builds one C and one C++ program with CMake and with Meson from an installed tree, linked with the shared and with the
//! static library.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, Program, Ran, has};
use crate::report::Report;

/// A folder with `program.c` and `program.cpp`, and the installed tree with which they are built.
pub struct Consumer<'a> {
    pub env: &'a Env,
    pub sources: &'a Path,
    pub tree: &'a Path,
    pub libdir: &'a Path,
}

impl Consumer<'_> {
    pub fn build_with_cmake(&self, report: &mut Report) {
        if !has("cmake") {
            return report.skip("cmake is not installed");
        }
        let project = "cmake_minimum_required(VERSION 3.16)\nproject(consumer C CXX)\n\
            find_package(netlib ${REQUESTED} CONFIG REQUIRED)\n\
            foreach(language c cpp)\n    foreach(kind netlib static)\n\
            \x20       add_executable(${kind}-${language} program.${language})\n\
            \x20       target_link_libraries(${kind}-${language} PRIVATE netlib::${kind})\n\
            \x20   endforeach()\nendforeach()\n";
        fs::write(self.sources.join("CMakeLists.txt"), project).expect("target is writable");
        let configure = |version: &str| {
            let build = self.sources.join(format!("cmake-{version}"));
            let mut cmake = self.env.command("cmake");
            cmake.arg("-S").arg(self.sources).arg("-B").arg(&build).arg(format!("-DREQUESTED={version}"));
            cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", self.tree.display()));
            (cmake.run(300), build)
        };
        for (version, is_found) in requested_versions() {
            let (ran, _) = configure(&version);
            let verb = if is_found { "finds" } else { "does not find" };
            report.check(ran.ok == is_found, format!("find_package(netlib {version}) {verb} netlib\n{}", ran.text));
        }
        let (_, build) = configure(std::env!("CARGO_PKG_VERSION"));
        let built = self.env.command("cmake").arg("--build").arg(&build).run(300);
        self.check_programs("CMake", &build, &built, report);
    }

    pub fn build_with_meson(&self, report: &mut Report) {
        for tool in ["meson", "ninja", "pkg-config"] {
            if !has(tool) {
                return report.skip(format!("{tool} is not installed: no program is built with Meson"));
            }
        }
        let version = std::env!("CARGO_PKG_VERSION");
        let project = format!(
            "project('consumer', 'c', 'cpp')\n\
             shared = dependency('netlib', version: '={version}')\n\
             archive = dependency('netlib', static: true)\n\
             foreach language : ['c', 'cpp']\n\
             \x20   executable('netlib-' + language, 'program.' + language, dependencies: shared)\n\
             \x20   executable('static-' + language, 'program.' + language, dependencies: archive)\n\
             endforeach\n"
        );
        fs::write(self.sources.join("meson.build"), project).expect("target is writable");
        let build = self.sources.join("meson");
        let mut setup = self.env.command("meson");
        setup.arg("setup").arg(&build).arg(self.sources).env("PKG_CONFIG_PATH", self.libdir.join("pkgconfig"));
        let set_up = setup.run(300);
        if report.check(set_up.ok, format!("Meson finds netlib\n{}", set_up.text)) {
            let built = self.env.command("meson").args(["compile", "-C"]).arg(&build).run(300);
            self.check_programs("Meson", &build, &built, report);
        }
    }

    fn check_programs(&self, system: &str, build: &Path, built: &Ran, report: &mut Report) {
        if !report.check(built.ok, format!("{system} builds the programs\n{}", built.text)) {
            return;
        }
        for (program, is_shared) in
            [("netlib-c", true), ("netlib-cpp", true), ("static-c", false), ("static-cpp", false)]
        {
            let program = build.join(program);
            let ran = self.command_with_library(&program, is_shared).run(60);
            let version = std::env!("CARGO_PKG_VERSION");
            report.check(
                ran.ok && ran.out.trim() == version,
                format!("{} of {system} prints {version}\n{}", program.display(), ran.text),
            );
            self.check_needed_library(&program, is_shared, report);
        }
    }

    /// Returns a command that runs a program. Only a program that needs the shared library finds it.
    fn command_with_library(&self, program: &PathBuf, is_shared: bool) -> Program {
        let library = if is_shared { self.libdir } else { Path::new("/nonexistent") };
        let mut command = self.env.command(program);
        command.load_from(library);
        command
    }

    /// Checks that a program names the SONAME as a library to load, or no library of netlib if it is linked statically.
    fn check_needed_library(&self, program: &Path, is_shared: bool, report: &mut Report) {
        if !has("readelf") {
            return;
        }
        let dynamic = self.env.command("readelf").args(["-d", "-W"]).arg(program).run(60).out;
        let needed = dynamic.lines().find(|line| line.contains("(NEEDED)") && line.contains("netlib"));
        let is_right = match is_shared {
            true => needed.is_some_and(|line| line.contains(&format!("[{}]", self.env.soname()))),
            false => needed.is_none(),
        };
        report.check(is_right, format!("{} is linked as requested: {needed:?}", program.display()));
    }
}

/// Returns versions that a program may request, and whether the installed version satisfies the request.
fn requested_versions() -> Vec<(String, bool)> {
    let number = |text: &str| text.parse::<u32>().expect("a version is a number");
    let major = number(std::env!("CARGO_PKG_VERSION_MAJOR"));
    let minor = number(std::env!("CARGO_PKG_VERSION_MINOR"));
    let patch = number(std::env!("CARGO_PKG_VERSION_PATCH"));
    vec![
        (format!("{major}.{minor}"), true),
        (format!("{major}.{minor}.{patch}"), true),
        (format!("{major}.{minor}.{}", patch + 1), false),
        (format!("{major}.{}", minor + 1), false),
        (format!("{}.0", major + 1), false),
        (format!("{major}.{}", minor.saturating_sub(1)), major > 0 || minor == 0),
    ]
}
