//! Converts times between their encoding in certificates, seconds since 1970, and text.
//!
//! The crate `der` converts dates to seconds. The parsers of UTCTime and GeneralizedTime in `der` are not used, because
//! they accept only the forms that RFC 5280 allows, and no date before 1970.

use std::time::Duration;

use pkcs5::der::DateTime;

use super::der::{Element, tag};

/// The Gregorian calendar repeats after 400 years. `der` has no dates before 1970, so dates are shifted by whole
/// cycles.
const CYCLE_YEARS: i64 = 400;
const CYCLE_SECONDS: i64 = 146_097 * 86_400;

/// Parses UTCTime and GeneralizedTime into seconds since 1970. RFC 5280 requires seconds and "Z". Times without
/// seconds, with fractions of seconds, or with an offset from UTC are also accepted, because older authorities wrote
/// them.
pub(crate) fn parse(time: &Element<'_>) -> Option<i64> {
    let mut text = Digits(time.content);
    let year = match time.tag {
        tag::UTC_TIME => match i64::from(text.two()?) {
            year @ ..50 => 2000 + year,
            year => 1900 + year,
        },
        tag::GENERALIZED_TIME => i64::from(text.two()?) * 100 + i64::from(text.two()?),
        _ => return None,
    };
    let (month, day, hour, minute) = (text.two()?, text.two()?, text.two()?, text.two()?);
    let second = if text.0.first().is_some_and(u8::is_ascii_digit) { text.two()? } else { 0 };
    if let Some(fraction) = text.0.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        text.0 = fraction.get(digits..).filter(|_| digits > 0)?;
    }
    let offset = match text.0.split_first()? {
        (b'Z', []) => 0,
        (sign @ (b'+' | b'-'), rest) => {
            text.0 = rest;
            let (hours, minutes) = (text.two()?, text.two()?);
            if hours > 23 || minutes > 59 || !text.0.is_empty() {
                return None;
            }
            (i64::from(hours) * 3600 + i64::from(minutes) * 60) * if *sign == b'+' { 1 } else { -1 }
        }
        _ => return None,
    };
    // A leap second counts as the first second of the next minute.
    let leap_second = i64::from(second == 60);
    let second = if second == 60 { 59 } else { second };
    let shifted_year = u16::try_from(2000 + year % CYCLE_YEARS).ok()?;
    let shifted = DateTime::new(shifted_year, month, day, hour, minute, second).ok()?;
    let shifted = i64::try_from(shifted.unix_duration().as_secs()).ok()?;
    let cycles = year / CYCLE_YEARS - 2000 / CYCLE_YEARS;
    Some(shifted + cycles * CYCLE_SECONDS + leap_second - offset)
}

struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn two(&mut self) -> Option<u8> {
        let (&[tens, ones], rest) = self.0.split_first_chunk()?;
        if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
            return None;
        }
        self.0 = rest;
        Some((tens - b'0') * 10 + (ones - b'0'))
    }
}

/// Formats seconds since 1970 like "2026-03-09 17:05:00 UTC".
pub(crate) fn utc(seconds: i64) -> String {
    let (cycles, shifted) = (seconds.div_euclid(CYCLE_SECONDS), seconds.rem_euclid(CYCLE_SECONDS));
    // The conversion always succeeds, because the shifted time is in the years 1970 to 2369.
    let shifted = DateTime::from_unix_duration(Duration::from_secs(shifted.unsigned_abs()));
    let time = shifted.unwrap_or(DateTime::INFINITY);
    let year = i64::from(time.year()) + cycles * CYCLE_YEARS;
    let (month, day, hour, minute, second) = (time.month(), time.day(), time.hour(), time.minutes(), time.seconds());
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::super::der::Der;
    use super::*;

    #[test]
    fn unix_seconds_are_formatted_as_utc_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_709_251_200, "2024-03-01 00:00:00 UTC"),
            (4_102_444_799, "2099-12-31 23:59:59 UTC"),
            (253_402_300_799, "9999-12-31 23:59:59 UTC"),
            (-62_167_219_200, "0000-01-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
        utc(i64::MAX);
        utc(i64::MIN);
    }

    fn read(kind: u8, text: &str) -> Option<String> {
        let bytes = [&[kind, text.len() as u8], text.as_bytes()].concat();
        parse(&Der::new(&bytes).next().unwrap()).map(utc)
    }

    #[test]
    fn utc_times_and_generalized_times_of_certificates_are_parsed() {
        for (kind, text, expected) in [
            (tag::UTC_TIME, "491231235959Z", "2049-12-31 23:59:59 UTC"),
            (tag::UTC_TIME, "500101000000Z", "1950-01-01 00:00:00 UTC"),
            (tag::UTC_TIME, "0002290000Z", "2000-02-29 00:00:00 UTC"),
            (tag::UTC_TIME, "260309180500+0100", "2026-03-09 17:05:00 UTC"),
            (tag::UTC_TIME, "261231233000-0130", "2027-01-01 01:00:00 UTC"),
            (tag::UTC_TIME, "161231235960Z", "2017-01-01 00:00:00 UTC"),
            (tag::GENERALIZED_TIME, "20500101000000Z", "2050-01-01 00:00:00 UTC"),
            (tag::GENERALIZED_TIME, "20260309170500.25Z", "2026-03-09 17:05:00 UTC"),
            (tag::GENERALIZED_TIME, "99991231235959Z", "9999-12-31 23:59:59 UTC"),
            (tag::GENERALIZED_TIME, "00000101000000Z", "0000-01-01 00:00:00 UTC"),
        ] {
            assert_eq!(read(kind, text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "Z",
            "260309170500",
            "260309170500z",
            "260309170500ZZ",
            "2603091705",
            "261309170500Z",
            "260009170500Z",
            "260230170500Z",
            "260300170500Z",
            "260309240500Z",
            "260309176000Z",
            "260309170561Z",
            "2603091705.Z",
            "260309170500+01",
            "260309170500+2400",
            "260309170500+0160",
            "260309170500+0100Z",
            "+60309170500Z",
            "\u{663}60309170500Z",
        ] {
            assert_eq!(read(tag::UTC_TIME, text), None, "{text}");
        }
        assert_eq!(read(tag::GENERALIZED_TIME, "19000229000000Z"), None);
        assert_eq!(read(tag::UTF8_STRING, "491231235959Z"), None);
    }
}
