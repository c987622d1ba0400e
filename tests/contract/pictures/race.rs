//! Draws a connection race (RFC 8305) as a time line. The unit test
//! `the_race_in_the_documentation_is_won_by_its_fourth_attempt` checks the recorded race.

use super::svg::{BOLD, GREEN, GREY, PALE, PLAIN, Picture, RED, SMALL, TITLE, WIDTH};

struct Attempt<'a> {
    port: &'a str,
    start: f64,
    end: f64,
    status: &'a str,
}

const LEFT: f64 = 12.0;
const ROW: f64 = 46.0;

/// Draws a race from the report of a simulation: "PORT START-END STATUS" for each attempt, separated by commas.
pub fn draw(report: &str) -> String {
    let attempts: Vec<Attempt> = report.trim().split(", ").map(parse).collect();
    let end = attempts.iter().map(|attempt| attempt.end).fold(0.0, f64::max);
    let scale = (WIDTH - 2.0 * LEFT) / end;
    let x = |ms: f64| (LEFT + ms * scale).round();

    let mut picture = Picture::default();
    picture.text(LEFT, 22.0, TITLE, "A connection race: four addresses, two families");
    picture.text(LEFT, 40.0, SMALL, "The attempt delay is 250 ms. A failure starts the next attempt immediately.");
    let (top, bottom) = (52.0, 52.0 + attempts.len() as f64 * ROW);
    let mut marks: Vec<f64> = attempts.iter().flat_map(|attempt| [attempt.start, attempt.end]).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    for mark in marks {
        picture.line((x(mark), top), (x(mark), bottom), GREY);
        let (shift, unit) = match mark {
            0.0 => (0.0, ""),
            mark if mark == end => (36.0, " ms"),
            _ => (10.0, ""),
        };
        picture.text(x(mark) - shift, bottom + 16.0, SMALL, &format!("{mark}{unit}"));
    }
    for (at, attempt) in attempts.iter().enumerate() {
        let y = top + at as f64 * ROW;
        let (colour, outcome) = match attempt.status {
            "Ok" => (GREEN, "connected: wins"),
            "ConnectFailed" => (RED, "refused: the next attempt starts"),
            _ => (GREY, "no answer: closed when another attempt wins"),
        };
        picture.bar(LEFT, y + 2.0, WIDTH - 2.0 * LEFT, 20.0, PALE);
        picture.text(LEFT + 4.0, y + 16.0, BOLD, &address(attempt.port));
        picture.text(LEFT + 110.0, y + 16.0, PLAIN, outcome);
        picture.bar(x(attempt.start), y + 25.0, x(attempt.end) - x(attempt.start), 14.0, colour);
    }
    picture.finish(bottom + 28.0)
}

/// Parses "PORT START-END STATUS".
fn parse(text: &str) -> Attempt<'_> {
    let parse = || {
        let mut words = text.split(' ');
        let (port, times, status) = (words.next()?, words.next()?, words.next()?);
        let (start, end) = times.split_once('-')?;
        Some(Attempt { port, start: start.parse().ok()?, end: end.parse().ok()?, status })
    };
    parse().unwrap_or_else(|| panic!("\"{text}\" is no attempt"))
}

/// Returns an address for a port of the simulation, in which IPv6 addresses have ports below 10.
fn address(port: &str) -> String {
    if port.len() == 1 { format!("2001:db8::{port}") } else { format!("192.0.2.{port}") }
}
