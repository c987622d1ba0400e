//! Whether the time stays linear in the length, whatever the text is made of. What is refused has to be, too.

use crate::report::Table;
use crate::rivals::{Netlib, Reading, Timed};
use crate::rng::Rng;
use crate::timing::timed;
use crate::{NETLIB, PORTABLE};

const LIMIT: f64 = 2.2;
const SIZES: std::ops::RangeInclusive<u32> = 6..=20;
/// The shortest of so many rounds counts, and of so many again, if a ratio is above the limit: the machine's other work
/// only ever makes a time longer.
const ROUNDS: usize = 25;
const ATTEMPTS: usize = 4;
/// What is parsed in a round, in bytes, so that even a short text takes longer than the clock's step.
const BYTES: usize = 1 << 17;

/// A name, what the text begins with, what it is then made of, what it ends with.
const SHAPES: &[(&str, &str, &str, &str)] = &[
    ("long path", "https://example.com/", "documents/", ""),
    ("long query", "https://example.com/?", "key=value&", ""),
    ("/a/../", "https://example.com", "/a/..", "/"),
    ("only ..", "https://example.com", "/..", "/"),
    ("percent", "https://example.com/", "%c3%A9", ""),
    ("stray percent", "https://example.com/", "%c3%", ""),
    ("to encode", "https://example.com/", "é|", ""),
    ("@", "https://", "@", "example.com/"),
    ("[", "https://", "[", "/"),
    ("[ in path", "https://example.com/", "[", ""),
    ("host labels", "https://", "a.", "com/"),
];

pub fn run(rng: &mut Rng) -> Result<(), String> {
    // Memory that is asked of the system for each long text would be most of its time, and no matter of the parser.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 28);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 28);
    }
    table(rng, "netlib", Netlib::load("netlib", NETLIB)?);
    match Netlib::load("netlib, portable", PORTABLE) {
        Ok(portable) => table(rng, "netlib, portable", portable),
        Err(reason) => println!("netlib, portable: skipped: {reason}\n"),
    }
    Ok(())
}

fn table(rng: &mut Rng, name: &str, parser: Netlib) {
    println!(
        "Growth of {name}: ns per URL, and the highest ratio of a time to the one of half the length; at most {LIMIT}"
    );
    let mut titles = vec!["bytes of it"];
    titles.extend(SHAPES.iter().map(|shape| shape.0));
    let mut table = Table::new(&titles);
    let times: Vec<Vec<f64>> = SHAPES.iter().map(|shape| measure(rng, &parser, shape)).collect();
    for (i, bits) in SIZES.enumerate() {
        let mut row = vec![(1usize << bits).to_string()];
        row.extend(times.iter().map(|times| format!("{:.0}", times[i])));
        table.row(row);
    }
    let worst: Vec<f64> = times.iter().map(|times| worst_ratio(times)).collect();
    let mut row = vec!["highest ratio".to_owned()];
    row.extend(worst.iter().map(|ratio| format!("{ratio:.2}")));
    table.row(row);
    let mut row = vec!["accepted".to_owned()];
    row.extend(SHAPES.iter().map(|shape| if accepted(&parser, shape) { "yes" } else { "no" }.to_owned()));
    table.row(row);
    table.print();
    let worst = worst.into_iter().fold(0.0, f64::max);
    println!(
        "  highest of all {worst:.2}, target at most {LIMIT}: {}\n",
        if worst <= LIMIT { "met" } else { "missed" }
    );
}

fn accepted(parser: &Netlib, shape: &(&str, &str, &str, &str)) -> bool {
    parser.components(&text(shape, 1 << 12)).is_some()
}

/// A URL whose repeated part has this length: that is what doubles. What is around it is 9 to 21 bytes.
fn text(&(_, start, middle, end): &(&str, &str, &str, &str), length: usize) -> String {
    format!("{start}{}{end}", middle.repeat(length.div_ceil(middle.len())))
}

/// ns per parse for each size, the sizes in a new order every round.
fn measure(rng: &mut Rng, parser: &Netlib, shape: &(&str, &str, &str, &str)) -> Vec<f64> {
    let urls: Vec<String> = SIZES.map(|bits| text(shape, 1 << bits)).collect();
    let mut best = vec![f64::INFINITY; urls.len()];
    let mut order: Vec<usize> = (0..urls.len()).collect();
    for _ in 0..ATTEMPTS {
        for _ in 0..ROUNDS {
            rng.shuffle(&mut order);
            for &i in &order {
                let times = (BYTES / urls[i].len()).max(1);
                let time = timed(|| (0..times).for_each(|_| parser.once(&urls[i], Reading::Five)));
                best[i] = best[i].min(time / times as f64);
            }
        }
        if worst_ratio(&best) <= LIMIT {
            break;
        }
    }
    best
}

fn worst_ratio(times: &[f64]) -> f64 {
    times.windows(2).map(|pair| pair[1] / pair[0]).fold(0.0, f64::max)
}
