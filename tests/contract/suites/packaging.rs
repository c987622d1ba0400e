//! Checks that the recipes in `packaging` agree with the project: the version, the SONAME, the minimum Rust version, the
//! symbols file of Debian, the lists of installed files, and the placeholder for the URL of releases. Checks the links in
//! the documents of the packages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::model::Header;
use crate::report::Report;
use crate::suites::install::all_files;
use crate::suites::links;

/// The URL in every recipe, until netlib has a home page. docs/contributing/packaging.md describes how to replace it.
pub const PLACEHOLDER: &str = "https://netlib.invalid";

/// A URL that identifies the format of a file, and not a place of netlib.
const FORMAT: &str = "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/";

/// Texts that files contain. The braces contain the names of fields of [`Release`], or `url` for the placeholder.
const STATED: &[(&str, &str)] = &[
    ("packaging/debian/changelog", "netlib ({version}-1) "),
    ("packaging/debian/control", "\n cargo (>= {rust}) | cargo-web (>= {rust}),\n"),
    ("packaging/debian/control", "\n rustc (>= {rust}) | rustc-web (>= {rust}),\n"),
    ("packaging/debian/control", "\nPackage: libnetlib{abi}\n"),
    ("packaging/debian/control", "\n libnetlib{abi} (= ${binary:Version}),\n"),
    ("packaging/debian/rules", "Rust {rust}."),
    ("packaging/rpm/netlib.spec", "\nVersion:        {version}\n"),
    ("packaging/rpm/netlib.spec", "\nBuildRequires:  cargo >= {rust}\n"),
    ("packaging/rpm/netlib.spec", "\nBuildRequires:  rust >= {rust}\n"),
    ("packaging/rpm/netlib.spec", " - {version}-1\n"),
    ("packaging/alpine/APKBUILD", "\npkgver={version}\n"),
    ("packaging/alpine/APKBUILD", "\nmakedepends=\"cargo>={rust} rust>={rust}\"\n"),
    ("packaging/vcpkg/vcpkg.json", "\"version\": \"{version}\""),
    ("packaging/vcpkg/portfile.cmake", "cargo {rust} or newer"),
    ("packaging/conan/conanfile.py", "    version = \"{version}\"\n"),
    ("packaging/conan/conanfile.py", "cargo {rust} or newer"),
    ("packaging/homebrew/netlib.rb", "  url \"{url}/netlib-{version}.tar.gz\"\n"),
    ("packaging/nix/default.nix", "  version = \"{version}\";\n"),
    ("packaging/nix/default.nix", "rustc {rust} or newer"),
    ("packaging/docker/Dockerfile", "-t netlib:{version} "),
    ("packaging/docker/Dockerfile", "FROM rust:{rust}-"),
    ("docs/contributing/packaging.md", "`libnetlib{abi}`"),
    ("docs/contributing/packaging.md", "Rust {rust}, make"),
    ("README.md", "libnetlib{abi}_{version}-1_amd64.deb ./libnetlib-dev_{version}-1_amd64.deb\n"),
    // scripts/first-request runs the blocks marked `sh`.
    ("README.md", "\n```sh\nsudo apt update && sudo apt install g++ pkg-config\n```\n"),
    (
        "README.md",
        "\n```sh\ncc get.c $(pkg-config --cflags --libs netlib) -o get-c && ./get-c https://example.com/\n",
    ),
    ("README.md", "netlib-{version}-x86_64-unknown-linux-gnu.tar.gz\n"),
];

pub struct Release {
    pub version: String,
    /// The end of the SONAME, for example "0.1".
    pub abi: String,
    pub rust: String,
}

impl Release {
    fn of(env: &Env) -> Release {
        Release {
            version: std::env!("CARGO_PKG_VERSION").to_owned(),
            abi: env.soname().trim_start_matches("libnetlib.so.").to_owned(),
            rust: std::env!("CARGO_PKG_RUST_VERSION").to_owned(),
        }
    }
}

pub fn run(env: &Env, report: &mut Report) {
    let release = Release::of(env);
    for (file, stated) in STATED {
        let text = stated.replace("{version}", &release.version).replace("{abi}", &release.abi);
        let text = text.replace("{rust}", &release.rust).replace("{url}", PLACEHOLDER);
        report.check(env.read(file).contains(&text), format!("{file} contains {text:?}"));
    }
    for path in all_files(&env.root.join("packaging")).into_iter().chain([env.root.join("README.md")]) {
        let text = fs::read_to_string(&path).expect("recipes are text");
        let file = path.strip_prefix(&env.root).unwrap_or(&path).display().to_string();
        report.problems(&file, outdated(&text, &release));
        report.problems(&file, if file == "README.md" { Vec::new() } else { foreign_urls(&text) });
    }
    report.check(
        env.files("packaging/debian", "libnetlib", ".symbols").len() == 1,
        "packaging/debian contains one symbols file; delete those of earlier releases",
    );
    lists(env, report);
    // The variable CARGO replaces cargo by a command that prints its environment.
    let printed = env.command("make").args(["-j2", "abi", "CARGO=sh -c env"]).run(60);
    report.check(
        printed.ok && printed.out.contains("PATH=") && !printed.out.contains("jobserver"),
        format!("make -j2 passes no jobserver to cargo, as dpkg-buildpackage would\n{}", printed.text),
    );
}

/// Returns the names in a text that contain another version or SONAME than the release.
pub fn outdated(text: &str, release: &Release) -> Vec<String> {
    let of_library = [release.abi.as_str(), release.version.as_str()];
    let mut problems = Vec::new();
    for (start, allowed) in [
        ("libnetlib.so.", &of_library[..]),
        ("libnetlib", &of_library[..1]),
        ("NETLIB_", &of_library[..1]),
        ("netlib-", &of_library[1..]),
    ] {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let found = rest[..end].trim_end_matches('.');
            if found.starts_with(|c: char| c.is_ascii_digit()) && !allowed.contains(&found) {
                problems.push(format!("{start}{found} belongs to another release than {}", release.version));
            }
        }
    }
    problems
}

/// Returns the URLs in a recipe that start neither with the placeholder nor with the URL of a format.
pub fn foreign_urls(text: &str) -> Vec<String> {
    let urls = text.match_indices("://").map(|(at, _)| {
        let start = text[..at].rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |before| before + 1);
        let end =
            text[at..].find(|c: char| c.is_whitespace() || "\"'`<>)".contains(c)).map_or(text.len(), |end| at + end);
        &text[start..end]
    });
    let is_known = |url: &str| {
        let end = url.strip_prefix(PLACEHOLDER);
        end.is_some_and(|end| end.is_empty() || end.starts_with('/')) || url == FORMAT
    };
    urls.filter(|url| !is_known(url)).map(|url| format!("{url} is not {PLACEHOLDER}")).collect()
}

/// Returns the path and text of Debian's symbols file. A function keeps the version with which the file lists it; a
/// function that the file does not list has the version of Cargo.toml.
pub fn symbols(env: &Env, header: &Header) -> (String, String) {
    let release = Release::of(env);
    let file = format!("packaging/debian/libnetlib{}.symbols", release.abi);
    let old = fs::read_to_string(env.root.join(&file)).unwrap_or_default();
    let text = write_symbols(&old, header.functions.iter().map(|function| function.name.as_str()), &release);
    (file, text)
}

pub fn write_symbols<'a>(old: &str, functions: impl Iterator<Item = &'a str>, release: &Release) -> String {
    let Release { version, abi, .. } = release;
    let mut names: Vec<String> = functions.map(|function| format!(" {function}@NETLIB_{abi} ")).collect();
    names.push(format!(" NETLIB_{abi}@NETLIB_{abi} "));
    names.sort();
    let mut text = format!("libnetlib.so.{abi} libnetlib{abi} #MINVER#\n* Build-Depends-Package: libnetlib-dev\n");
    for name in names {
        let since = old.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or(version);
        text += &format!("{name}{since}\n");
    }
    text
}

/// Installs files with the names of an installation, and checks that the lists of Debian and RPM name all of them.
fn lists(env: &Env, report: &mut Report) {
    let debian: Vec<String> = env
        .files("packaging/debian", "libnetlib", ".install")
        .iter()
        .flat_map(|file| {
            fs::read_to_string(file).expect("recipes are text").lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .map(|line| line.split(' ').next().unwrap_or("").to_owned())
        .collect();
    let spec = env.read("packaging/rpm/netlib.spec");
    let lines = spec.lines().skip_while(|line| !line.starts_with("%files")).take_while(|line| *line != "%changelog");
    let rpm = lines.filter(|line| line.starts_with("%{")).map(|line| {
        let line = line.replace("%{_libdir}", "usr/lib/*").replace("%{_includedir}", "usr/include");
        line.replace("%{_docdir}", "usr/share/doc").replace("%{_mandir}", "usr/share/man")
    });
    for (what, documents, patterns) in
        [("Debian", "libnetlib-dev", debian), ("RPM", "netlib-devel", rpm.collect::<Vec<_>>())]
    {
        match installed(env, documents) {
            Ok((root, files)) => {
                report.problems(format!("the file lists for {what}"), differences(&files, &patterns));
                if what == "Debian" {
                    rename_as_debhelper(&root, &files, &env.read("packaging/debian/rules"));
                }
                links::check_installed(&root.join("usr/share/doc").join(documents), report);
            }
            Err(text) => report.fail(format!("scripts/install\n{text}")),
        }
    }
}

/// Runs scripts/install for a directory with empty files in place of the libraries. Returns the directory in which the
/// files are installed, and the files' paths.
fn installed(env: &Env, documents: &str) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let scratch = env.scratch("packaging");
    let (target, root, version) = (scratch.join("target"), scratch.join("root"), std::env!("CARGO_PKG_VERSION"));
    let library = format!("netlib/libnetlib.so.{version}");
    for file in [
        &library,
        "netlib/libnetlib.a",
        "netlib/THIRD-PARTY-NOTICES",
        "man/man3/netlib_x.3.gz",
        "man/man7/netlib.7.gz",
    ] {
        let path = target.join(file);
        fs::create_dir_all(path.parent().expect("below target")).expect("target is writable");
        fs::write(path, "").expect("target is writable");
    }
    let info = format!("version={version}\ntarget=\nhost=yes\nshared=yes\nprivate=\n");
    fs::write(target.join("netlib/build.info"), info).expect("target is writable");
    let mut install = env.command("scripts/install");
    install.env("CARGO_TARGET_DIR", &target).env("DESTDIR", &root).env("PREFIX", "/usr");
    install.env("LIBDIR", "/usr/lib/x86_64-linux-gnu").env("DOCDIR", format!("/usr/share/doc/{documents}"));
    install.run(60).or_text()?;
    let files = all_files(&root).into_iter();
    let files = files.map(|file| file.strip_prefix(&root).expect("below root").to_owned()).collect();
    Ok((root, files))
}

/// Renames the documents that debhelper would rename, unless the recipe excludes their paths with -X: dh_compress
/// compresses files of more than 4 KiB, and dh_installchangelogs moves the changelog.
fn rename_as_debhelper(root: &Path, files: &[PathBuf], rules: &str) {
    let is_excluded = |tool: &str, file: &str| {
        let command = rules.lines().find_map(|line| line.strip_prefix('\t')?.strip_prefix(tool)).unwrap_or("");
        command.split(' ').filter_map(|option| option.strip_prefix("-X")).any(|part| file.contains(part))
    };
    for file in files.iter().filter(|file| file.starts_with("usr/share/doc")) {
        let (path, text) = (root.join(file), file.to_string_lossy());
        let is_large = fs::symlink_metadata(&path).is_ok_and(|data| data.is_file() && data.len() > 4096);
        let is_changelog = text.ends_with("/CHANGELOG.md") && !is_excluded("dh_installchangelogs", &text);
        if is_large && !is_excluded("dh_compress", &text) || is_changelog {
            fs::rename(&path, root.join(format!("{text}.gz"))).expect("target is writable");
        }
    }
}

/// Returns the files that no pattern matches, and the patterns that match no file.
pub fn differences(files: &[PathBuf], patterns: &[String]) -> Vec<String> {
    let unlisted = files.iter().filter(|file| !patterns.iter().any(|pattern| matches(pattern, file)));
    let mut problems: Vec<String> = unlisted.map(|file| format!("{} is in no list", file.display())).collect();
    let unused = patterns.iter().filter(|pattern| !files.iter().any(|file| matches(pattern, file)));
    problems.extend(unused.map(|pattern| format!("{pattern} is no installed file")));
    problems
}

/// Returns true if a pattern matches a file or one of its directories. A part may contain one `*`, which matches any text.
fn matches(pattern: &str, file: &Path) -> bool {
    let parts: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let names: Vec<&str> = file.iter().map(|name| name.to_str().expect("installed names are ASCII")).collect();
    parts.len() <= names.len()
        && parts.iter().zip(names).all(|(part, name)| match part.split_once('*') {
            Some((start, end)) => {
                name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
            }
            None => *part == name,
        })
}
