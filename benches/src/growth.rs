//! Checks that the time for parsing a URL is linear in its length, for valid and for invalid URLs.

use std::hint::black_box;

use crate::PORTABLE;
use crate::chart::{self, Bar, Group};
use crate::report::Table;
use crate::rivals::{Netlib, Reading, Timed};
use crate::rng::Rng;
use crate::timing::{median, timed};

const LIMIT: f64 = 2.2;
const SIZES: std::ops::RangeInclusive<u32> = 6..=20;
/// The number of rounds; each round puts the URL at a different address in memory. The time in a round is the time of
/// the shortest repetition, because other processes can only increase a time. The result is the median over the rounds,
/// because some addresses are faster than others.
const ROUNDS: usize = 15;
const REPETITIONS: usize = 3;
/// The maximum number of attempts. While a ratio is above the limit, each attempt adds `ROUNDS` rounds to the
/// measurement.
const ATTEMPTS: usize = 4;
/// The approximate number of bytes that a repetition parses; at least one URL is parsed. The number is so large that
/// parsing short URLs takes longer than the clock's resolution.
const BYTES: usize = 1 << 16;

struct Shape {
    name: &'static str,
    start: &'static str,
    repeated: &'static str,
    end: &'static str,
}

const fn shape(name: &'static str, start: &'static str, repeated: &'static str, end: &'static str) -> Shape {
    Shape { name, start, repeated, end }
}

const SHAPES: &[Shape] = &[
    shape("long path", "https://example.com/", "documents/", ""),
    shape("long query", "https://example.com/?", "key=value&", ""),
    shape("/a/../", "https://example.com", "/a/..", "/"),
    shape("only ..", "https://example.com", "/..", "/"),
    shape("percent", "https://example.com/", "%c3%A9", ""),
    shape("stray percent", "https://example.com/", "%c3%", ""),
    shape("to encode", "https://example.com/", "é|", ""),
    shape("@", "https://", "@", "example.com/"),
    shape("[", "https://", "[", "/"),
    shape("[ in path", "https://example.com/", "[", ""),
    shape("host labels", "https://", "a.", "com/"),
];

impl Shape {
    /// Returns a URL whose repeated part has at least `length` bytes. The other parts of the URL have 9 to 21 bytes.
    fn text(&self, length: usize) -> String {
        format!("{}{}{}", self.start, self.repeated.repeat(length.div_ceil(self.repeated.len())), self.end)
    }
}

pub fn run(rng: &mut Rng) -> Result<(), String> {
    // Makes malloc keep freed memory; otherwise most of the time for a long URL would be spent requesting memory from
    // the operating system.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 28);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 28);
    }
    let mut groups = vec![table(rng, Netlib::load("netlib", &crate::netlib())?)];
    match Netlib::load("netlib, portable", PORTABLE) {
        Ok(portable) => groups.push(table(rng, portable)),
        Err(reason) => println!("netlib, portable: skipped: {reason}\n"),
    }
    chart::write("growth", "URLs: the highest ratio of a time to the time of half the length", &groups)
}

/// Prints the table of a parser, and returns its highest ratios for the chart.
fn table(rng: &mut Rng, parser: Netlib) -> Group {
    println!(
        "Growth of {}: ns per URL; the highest ratio of a time to the one of half the length",
        Timed::name(&parser)
    );
    println!("The first column is what the machine takes to allocate, copy and free the long path\n");
    let copy = measure(rng, &SHAPES[0], |url| drop(black_box(url.to_owned())));
    let parsed: Vec<Vec<f64>> =
        SHAPES.iter().map(|shape| measure(rng, shape, |url| parser.once(url, Reading::Five))).collect();
    let columns = || std::iter::once(&copy).chain(&parsed);
    let row =
        |name: &str, cells: &mut dyn Iterator<Item = String>| std::iter::once(name.to_owned()).chain(cells).collect();

    let mut titles = vec!["bytes", "a copy"];
    titles.extend(SHAPES.iter().map(|shape| shape.name));
    let mut table = Table::new(&titles);
    for (i, bits) in SIZES.enumerate() {
        table.row(row(&(1 << bits).to_string(), &mut columns().map(|times| format!("{:.0}", times[i]))));
    }
    table.row(row("highest ratio", &mut columns().map(|times| format!("{:.2}", worst(times).0))));
    table.row(row("at bytes", &mut columns().map(|times| worst(times).1.to_string())));
    let accepted = |shape: &Shape| parser.components(&shape.text(1 << 12)).is_some();
    let answers = SHAPES.iter().map(|shape| if accepted(shape) { "yes" } else { "no" });
    table.row(row("accepted", &mut std::iter::once("").chain(answers).map(str::to_owned)));
    table.print();
    let highest = parsed.iter().map(|times| worst(times).0).fold(0.0, f64::max);
    let verdict = if highest <= LIMIT { "met" } else { "missed" };
    println!("  highest of all {highest:.2}, target at most {LIMIT}: {verdict}\n");
    let names = std::iter::once("a copy").chain(SHAPES.iter().map(|shape| shape.name));
    let bar = |(label, times): (&str, &Vec<f64>)| {
        let (ratio, length) = worst(times);
        let text = format!("{ratio:.2}, {length} bytes");
        Bar { label: label.to_owned(), value: ratio, text, is_netlib: label != "a copy" }
    };
    Group { name: Timed::name(&parser).to_owned(), bars: names.zip(columns()).map(bar).collect() }
}

/// Returns the time per operation in ns for each size. Each round measures the sizes in a new order.
fn measure(rng: &mut Rng, shape: &Shape, operation: impl Fn(&str)) -> Vec<f64> {
    let urls: Vec<String> = SIZES.map(|bits| shape.text(1 << bits)).collect();
    let mut times = vec![Vec::new(); urls.len()];
    let mut order: Vec<usize> = (0..urls.len()).collect();
    let mut medians = Vec::new();
    for _ in 0..ATTEMPTS {
        for _ in 0..ROUNDS {
            rng.shuffle(&mut order);
            for &i in &order {
                let placed = " ".repeat(rng.below(4096)) + &urls[i];
                times[i].push(shortest(placed.trim_start(), &operation));
            }
        }
        medians = times.iter().map(|times| median(times)).collect();
        if worst(&medians).0 <= LIMIT {
            break;
        }
    }
    medians
}

fn shortest(url: &str, operation: impl Fn(&str)) -> f64 {
    let times = (BYTES / url.len()).max(1);
    let pass = || (0..times).for_each(|_| operation(url));
    (0..REPETITIONS).map(|_| timed(pass) / times as f64).fold(f64::INFINITY, f64::min)
}

/// Returns the highest ratio of the time for a length to the time for half that length, and the length.
fn worst(times: &[f64]) -> (f64, usize) {
    let ratios = times.windows(2).map(|pair| pair[1] / pair[0]);
    let lengths = SIZES.skip(1).map(|bits| 1 << bits);
    ratios.zip(lengths).fold((0.0, 0), |worst, here| if here.0 > worst.0 { here } else { worst })
}
