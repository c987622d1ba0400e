//! Measures the sizes of builds of netlib: the stripped files, their sections, and the code and data by origin. The
//! programs strip, nm and readelf of binutils read the files.

use std::collections::BTreeMap;
use std::process::Command;

use crate::chart::{self, Bar, Group};
use crate::report::Table;
use crate::{SMALL, netlib};

/// The goals for the stripped files, in bytes.
const GOAL: u64 = 4_500_000;
const GOAL_SMALL: u64 = 3_500_000;

/// The names of the groups of sections, and the starts of the names of their sections.
const SECTIONS: &[(&str, &[&str])] = &[
    (".text", &[".text"]),
    (".rodata", &[".rodata"]),
    (".eh_frame", &[".eh_frame"]),
    (".gcc_except_table", &[".gcc_except_table"]),
    (".rela, .relr", &[".rela", ".relr"]),
    (".data", &[".data", ".tdata"]),
];

/// The origins of symbols, in the order of the table. The last one is the rest of the file.
const ORIGINS: &[&str] = &["aws-lc", "netlib", "rustls", "std", "other crates"];
const UNNAMED: &str = "no symbol";

/// The standard library, with the crates that only it uses.
const STD: &[&str] = &[
    "std",
    "core",
    "alloc",
    "addr2line",
    "compiler_builtins",
    "gimli",
    "miniz_oxide",
    "rustc_demangle",
    "std_detect",
    "unwind",
    "__rustc",
];

/// Prints the tables of netlib's build and of the small build, or of netlib's build and of an earlier build.
pub fn run(before: Option<&str>) -> Result<(), String> {
    let netlib = &netlib()[..];
    let builds = match before {
        Some(path) => [("now", netlib, None), ("before", path, None)],
        None => [("default", netlib, Some(GOAL)), ("small", SMALL, Some(GOAL_SMALL))],
    };
    println!("Sizes: bytes of the stripped shared library\n");
    let sizes = builds.iter().map(|(_, path, _)| Size::of(path)).collect::<Result<Vec<Size>, String>>()?;
    let titles = |title| [&[title][..], &builds.map(|build| build.0)].concat();

    let mut sections = Table::new(&titles("section"));
    for (name, _) in SECTIONS {
        sections.row(row(name, &sizes, |size| size.sections[name]));
    }
    sections.row(row("other", &sizes, |size| size.file - size.sections.values().sum::<u64>()));
    sections.row(row("file", &sizes, |size| size.file));
    sections.print();

    let mut origins = Table::new(&titles("origin"));
    for name in ORIGINS {
        origins.row(row(name, &sizes, |size| size.origins[name]));
    }
    origins.row(row(UNNAMED, &sizes, |size| size.file - size.origins.values().sum::<u64>()));
    origins.row(row("file", &sizes, |size| size.file));
    origins.print();

    for ((name, _, goal), size) in builds.iter().zip(&sizes) {
        if let Some(goal) = *goal {
            let verdict = if size.file <= goal { "met" } else { "missed" };
            println!("  {name}: {} bytes, goal {goal}: {verdict}", size.file);
        }
    }
    println!();
    if before.is_some() {
        return Ok(());
    }
    let groups: Vec<Group> = builds.iter().zip(&sizes).map(|((name, ..), size)| group(name, size)).collect();
    chart::write("size", "Bytes of the stripped shared library, by origin", &groups)
}

/// Returns the bars of a build for the chart.
fn group(build: &str, size: &Size) -> Group {
    let bar = |label: &str, bytes: u64| Bar {
        label: label.to_owned(),
        value: bytes as f64,
        text: format!("{:.2} MB", bytes as f64 / 1e6),
        is_netlib: label == "netlib",
    };
    let mut bars: Vec<Bar> = ORIGINS.iter().map(|name| bar(name, size.origins[name])).collect();
    bars.push(bar(UNNAMED, size.file - size.origins.values().sum::<u64>()));
    Group { name: format!("{build} build: {:.2} MB", size.file as f64 / 1e6), bars }
}

fn row(name: &str, sizes: &[Size], get: impl Fn(&Size) -> u64) -> Vec<String> {
    let numbers = sizes.iter().map(|size| get(size).to_string());
    [name.to_owned()].into_iter().chain(numbers).collect()
}

struct Size {
    file: u64,
    sections: BTreeMap<&'static str, u64>,
    origins: BTreeMap<&'static str, u64>,
}

impl Size {
    fn of(path: &str) -> Result<Size, String> {
        let stripped = "target/bench/stripped.so";
        output("strip", &["--strip-unneeded", "-o", stripped, path])?;
        let file = std::fs::metadata(stripped).map_err(|error| format!("{stripped}: {error}"))?.len();
        Ok(Size {
            file,
            sections: sections(&output("readelf", &["--sections", "--wide", stripped])?),
            origins: origins(&output("nm", &["--print-size", "--defined-only", path])?),
        })
    }
}

/// Runs a program, and returns its standard output.
fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the sizes of the groups of sections from readelf's list, whose lines have the form
/// `[ 1] .text PROGBITS ADDRESS OFFSET SIZE ...`.
fn sections(list: &str) -> BTreeMap<&'static str, u64> {
    let mut sizes: BTreeMap<&str, u64> = SECTIONS.iter().map(|(name, _)| (*name, 0)).collect();
    for line in list.lines() {
        let Some((_, line)) = line.split_once(']') else { continue };
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[section, kind, _, _, size, ..] = &fields[..] else { continue };
        let group = SECTIONS.iter().find(|(_, starts)| starts.iter().any(|start| section.starts_with(start)));
        if let Some((name, _)) = group
            && kind != "NOBITS"
        {
            *sizes.entry(name).or_default() += u64::from_str_radix(size, 16).unwrap_or(0);
        }
    }
    sizes
}

/// Returns the sizes of all functions and data by origin, from nm's list, whose lines have the form
/// `ADDRESS SIZE TYPE SYMBOL`.
fn origins(list: &str) -> BTreeMap<&'static str, u64> {
    let mut sizes: BTreeMap<&str, u64> = ORIGINS.iter().map(|name| (*name, 0)).collect();
    // Several symbols may name the same function.
    let mut counted = BTreeMap::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[address, size, kind, symbol] = &fields[..] else { continue };
        // The file contains no zero-initialised data.
        if kind.eq_ignore_ascii_case("b") || counted.insert(address, ()).is_some() {
            continue;
        }
        *sizes.entry(origin(symbol)).or_default() += u64::from_str_radix(size, 16).unwrap_or(0);
    }
    sizes
}

/// Returns the origin of a symbol. A generic function counts for the crate that defines the function.
fn origin(symbol: &str) -> &'static str {
    if symbol.starts_with("netlib_") {
        return "netlib";
    }
    match defining_crate(symbol) {
        // The library contains no C code except that of aws-lc.
        None => "aws-lc",
        Some("netlib") => "netlib",
        Some("rustls") => "rustls",
        Some(name) if STD.contains(&name) => "std",
        Some(_) => "other crates",
    }
}

/// Returns the name of the first crate in a mangled Rust symbol; None for a symbol that is not mangled.
fn defining_crate(symbol: &str) -> Option<&str> {
    if let Some(path) = symbol.strip_prefix("_ZN") {
        // Legacy mangling: lengths and names. The first name may begin with a type, as in `_$LT$$RF$netlib..url..Url`.
        let mut name = path.trim_start_matches(|c: char| c.is_ascii_digit());
        while let Some(rest) = name.trim_start_matches('_').strip_prefix('$') {
            name = rest.split_once('$').map_or("", |(_, rest)| rest);
            for word in ["mut", "const", "dyn"] {
                name = name.strip_prefix(word).filter(|rest| rest.starts_with('$')).unwrap_or(name);
            }
        }
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        // Without a type, the next name follows the first one directly, as in `6netlib3url`.
        let length =
            path.bytes().take_while(u8::is_ascii_digit).fold(0, |n, digit| 10 * n + usize::from(digit - b'0'));
        return Some(&name[..end.min(length)]);
    }
    // v0 mangling: `C`, the optional disambiguator `s..._`, and the length and the name of the crate.
    let mangled = symbol.strip_prefix("_R")?;
    let crates = mangled.match_indices('C').filter_map(|(start, _)| {
        let rest = &mangled[start + 1..];
        let rest = match rest.strip_prefix('s') {
            Some(rest) => rest.split_once('_')?.1,
            None => rest,
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        rest[digits..].trim_start_matches('_').get(..length)
    });
    Some(crates.into_iter().next().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_counts_for_the_crate_that_defines_it() {
        let cases = [
            ("netlib_parse_url", "netlib"),
            ("aws_lc_0_47_0_aes_gcm_encrypt_avx512", "aws-lc"),
            ("_ZN6netlib3url5parse5parse17h903d2644f4b5ecc5E", "netlib"),
            ("_ZN6rustls6client2hs9emit17h903d2644f4b5ecc5E", "rustls"),
            ("_ZN4core5slice4sort17h903d2644f4b5ecc5E", "std"),
            ("_ZN4idna5uts465Uts4617h903d2644f4b5ecc5E", "other crates"),
            (
                "_ZN101_$LT$netlib..tls..session..sealing..Sealing$u20$as$u20$rustls..crypto..Aead$GT$4fips17h0E",
                "netlib",
            ),
            ("_ZN60_$LT$$RF$mut$u20$rustls..msgs..Codec$u20$as$u20$core..fmt..Debug$GT$3fmt17h0E", "rustls"),
            ("_ZN60_$LT$dyn$u20$rustls..verify..Verifier$u20$as$u20$core..fmt..Debug$GT$3fmt17h0E", "rustls"),
            ("_RNvMNtCsgEmfK2I1SDS_4core4timeNtB2_8Duration13from_secs_f64", "std"),
            ("_RNvXsZ_NtCslNYArtu3iFV_5alloc6stringNtB5_6StringNtNtCsgEmfK2I1SDS_4core3fmt5Write9write_str", "std"),
        ];
        for (symbol, expected) in cases {
            assert_eq!(origin(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn zero_initialised_sections_count_as_0_bytes() {
        let list = "  [13] .text PROGBITS 00000000000352c0 0352c0 000100 00 AX 0 0 64\n\
                    \x20 [14] .text.cold PROGBITS 00000000000353c0 0353c0 000010 00 AX 0 0 64\n\
                    \x20 [28] .data.bss NOBITS 00000000005fca80 5fca0c 004000 00 WA 0 0 128\n";
        let sizes = sections(list);
        assert_eq!((sizes[".text"], sizes[".data"]), (0x110, 0));
    }

    #[test]
    fn two_symbols_of_one_address_count_once() {
        let list = "0000000000000010 0000000000000100 T netlib_a\n0000000000000010 0000000000000100 t netlib_b\n\
                    0000000000000200 0000000000001000 b netlib_zero\n";
        assert_eq!(origins(list)["netlib"], 0x100);
    }
}
