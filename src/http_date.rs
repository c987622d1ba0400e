//! Parses HTTP dates: the three forms of RFC 9110 section 5.6.7 (IMF-fixdate, RFC 850, asctime) and similar dates of
//! mail messages. The parser is as lenient as Python's `email.utils.parsedate_tz`: the weekday may be missing, day and
//! month may be swapped, and the zone may be a name or an offset, stand before the year, or be missing (UTC).

/// Parses a date into seconds since 1970-01-01 00:00:00 UTC. `None` if the text is not a date.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let words = DateFields::split(text)?;
    let [mut day, mut month, mut year, mut clock, mut zone] = words.0;
    if day.is_empty() || month.is_empty() || year.is_empty() {
        return None;
    }
    if month_number(month).is_none() {
        std::mem::swap(&mut day, &mut month);
    }
    // In the asctime form, the time of day stands before the year. Some servers put the zone before the year.
    if year.iter().position(|&b| b == b':').is_some_and(|at| at > 0) {
        std::mem::swap(&mut year, &mut clock);
    }
    year = without_comma(year);
    if !year.first()?.is_ascii_digit() {
        std::mem::swap(&mut year, &mut zone);
    }
    let days = days_before_month(full_year(number(year)?)?, month_number(month)?);
    let day = number(without_comma(day))?;
    let [hour, minute, second] = time_of_day(without_comma(clock))?;
    let minutes = ((days + day - 1) * 24 + hour) * 60 + minute;
    Some((minutes * 60 + second - zone_offset(zone)) as f64)
}

/// The five words of a date, usually in the order day, month, year, time of day, zone. If a date has another order,
/// `parse` moves its words into this order.
struct DateFields<'a>([&'a [u8]; 5]);

impl<'a> DateFields<'a> {
    /// Splits a date into its five words, without the weekday. If the zone is missing, the fifth word is empty. `None`
    /// if the date has fewer than four words. Words after the fifth are ignored.
    fn split(text: &'a [u8]) -> Option<DateFields<'a>> {
        let mut list: Vec<&[u8]> = text.split(|b| is_space(*b)).filter(|word| !word.is_empty()).take(6).collect();
        let first = *list.first()?;
        if first.ends_with(b",") || is_weekday(first) {
            list.remove(0);
        } else if let Some(comma) = first.iter().rposition(|&b| b == b',') {
            // "Sun,06" has no space after the weekday.
            list[0] = &first[comma + 1..];
        }
        if let [date, clock, zone] = list[..] {
            // A date of the RFC 850 form has hyphens: 06-Nov-94.
            let parts: Vec<&[u8]> = date.split(|&b| b == b'-').take(4).collect();
            if let [day, month, year] = parts[..] {
                list = vec![day, month, year, clock, zone];
            }
        }
        if let [day, month, year, clock] = list[..] {
            let (clock, zone) = split_offset(clock);
            list = vec![day, month, year, clock, zone];
        }
        let words = list.get(..5)?.try_into().ok()?;
        Some(DateFields(words))
    }
}

/// Splits text such as "08:49:37+0100" into the time of day and the zone offset.
fn split_offset(clock: &[u8]) -> (&[u8], &[u8]) {
    let find = |sign| clock.iter().position(|&b| b == sign);
    match find(b'+').or_else(|| find(b'-')) {
        Some(at) if at > 0 => clock.split_at(at),
        _ => (clock, b""),
    }
}

fn time_of_day(clock: &[u8]) -> Option<[i128; 3]> {
    let separator = if clock.contains(&b':') { b':' } else { b'.' };
    let parts: Vec<&[u8]> = clock.split(|&b| b == separator).take(4).collect();
    match parts[..] {
        [hour, minute] => Some([number(hour)?, number(minute)?, 0]),
        [hour, minute, second] => Some([number(hour)?, number(minute)?, number(second)?]),
        _ => None,
    }
}

/// Converts a year of two digits to 1969 to 2068. `None` for a year after 9999, as in Python.
fn full_year(year: i128) -> Option<i128> {
    let year = match year {
        ..=68 => year + 2000,
        69..=99 => year + 1900,
        _ => year,
    };
    (1..=9999).contains(&year).then_some(year)
}

/// Returns the days from 1970-01-01 to the first of the month, in the Gregorian calendar.
fn days_before_month(year: i128, month: usize) -> i128 {
    const BEFORE: [i128; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const BEFORE_1970: i128 = 719_162;
    let past = year - 1;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let leap_day = i128::from(leap && month > 1);
    past * 365 + past / 4 - past / 100 + past / 400 + BEFORE.get(month).copied().unwrap_or(0) + leap_day - BEFORE_1970
}

/// Returns the offset of a time zone, in seconds east of UTC. An unknown zone name means UTC.
fn zone_offset(zone: &[u8]) -> i128 {
    const NAMES: [(&[u8], i128); 8] = [
        (b"AST", -400),
        (b"ADT", -300),
        (b"EST", -500),
        (b"EDT", -400),
        (b"CST", -600),
        (b"CDT", -500),
        (b"MST", -700),
        (b"MDT", -600),
    ];
    const PACIFIC: [(&[u8], i128); 2] = [(b"PST", -800), (b"PDT", -700)];
    let named = NAMES.iter().chain(&PACIFIC).find(|(name, _)| zone.eq_ignore_ascii_case(name));
    let offset = named.map(|(_, offset)| *offset).or_else(|| number(zone)).unwrap_or(0);
    (offset / 100) * 3600 + (offset % 100) * 60
}

/// Converts the English name of a month, or its first three letters, to a number from 0 to 11.
fn month_number(word: &[u8]) -> Option<usize> {
    const NAMES: [&[u8]; 12] = [
        b"january",
        b"february",
        b"march",
        b"april",
        b"may",
        b"june",
        b"july",
        b"august",
        b"september",
        b"october",
        b"november",
        b"december",
    ];
    NAMES.iter().position(|name| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]))
}

fn is_weekday(word: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
    NAMES.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Parses digits with an optional sign. Numbers too large for a date are clamped.
fn number(word: &[u8]) -> Option<i128> {
    const MAX: i128 = 1_000_000_000_000_000;
    let (sign, digits) = match word {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| (value * 10 + i128::from(digit - b'0')).min(MAX));
    Some(sign * value)
}

fn without_comma(word: &[u8]) -> &[u8] {
    word.strip_suffix(b",").unwrap_or(word)
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: Option<f64> = Some(784_111_777.0);

    #[test]
    fn http_dates_in_all_forms_are_parsed_and_other_texts_refused() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", RFC),
            ("Sunday, 06-Nov-94 08:49:37 GMT", RFC),
            ("Sun Nov  6 08:49:37 1994", RFC),
            // Forms that RFC 9110 does not allow, but the parser accepts.
            ("06 Nov 1994 08:49:37 GMT", RFC),
            ("Sun,06 Nov 1994 08:49:37 GMT", RFC),
            ("sun, 06 nov 1994 08:49:37 gmt", RFC),
            ("Sun, 06 November 1994 08:49:37", RFC),
            ("Nov 06, 1994 08:49:37", RFC),
            ("Sun, 06 Nov 94 08:49:37 UT", RFC),
            ("  Sun,\t06 Nov 1994 08.49.37 Z  ", RFC),
            ("Sun, 06 Nov 1994 09:49:37 +0100", RFC),
            ("Sun, 06 Nov 1994 09:49:37+0100", RFC),
            ("Sun, 06 Nov 1994 03:49:37 EST", RFC),
            ("Sun, 06 Nov 1994 00:49:37 PST", RFC),
            ("Sun, 06 Nov 1994 04:19:37 -0430", RFC),
            ("Sun, 06 Nov GMT 08:49:37 1994", RFC),
            ("Sun, 06 Nov 1994 08:49:37 XYZ", RFC),
            ("Sun, 06 Nov 1994 08:49:37 GMT, and more", RFC),
            ("Sun, 06 Nov 1994 08:49", Some(784_111_740.0)),
            // A number beyond its range carries over, for example 30 February to March.
            ("Sat, 30 Feb 2019 00:00:00 GMT", Some(1_551_484_800.0)),
            ("Mon, 01 Jan 2024 24:00:60 GMT", Some(1_704_153_660.0)),
            ("01 Mar 2000 00:00:00 GMT", Some(951_868_800.0)),
            ("31 Dec 68 00:00:00 GMT", Some(3_124_137_600.0)),
            ("31 Dec 69 00:00:00 GMT", Some(-86_400.0)),
            // Texts that are not dates.
            ("", None),
            (" \t", None),
            (",", None),
            ("tomorrow", None),
            ("Sun, 06 Nov 1994", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("Sun, xx Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 084937 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37.5 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37:00 GMT", None),
            ("Sun, 06 Nov 10000 08:49:37 GMT", None),
            ("06-Nov- 08:49:37 GMT", None),
            ("-1", None),
            ("12 seconds", None),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn random_text_never_makes_the_date_parser_panic() {
        let huge = format!("{0} Jan 2000 {0}:{0}:{0} +{0}", "9".repeat(500));
        assert!(parse(huge.as_bytes()).is_some_and(f64::is_finite));
        for seed in 0u32..20_000 {
            let pieces = [",", " ", "-", "+", ":", ".", "Jan", "Mon", "7", "99", "2030", "10:20", "GMT", "\u{ff}"];
            let mut state = seed.wrapping_mul(2_654_435_761);
            let mut text = String::new();
            for _ in 0..seed % 12 {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                text.push_str(pieces[(state >> 16) as usize % pieces.len()]);
            }
            let _ = parse(text.as_bytes());
        }
    }
}
