//! ISO 8601 dates and times as numbers: days since 1970-01-01 in UTC, with the time of day as a fraction.
//!
//! Read are `2024-01-31` and, behind a `T` or a space, `10:30`, `10:30:15` or `10:30:15.25`, with or without `Z` or a
//! distance to UTC such as `+02:00`. A time without one counts as UTC.

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The days of a date, or `None` where the text is no date or the date does not exist.
pub(crate) fn parse_date(text: &str) -> Option<f64> {
    let text = text.as_bytes();
    let (date, rest) = text.split_at_checked(10)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let days = days_since_1970(year, month, day) as f64;
    match rest.split_first() {
        None => Some(days),
        Some((b'T' | b't' | b' ', time)) => Some(days + seconds(time)? / SECONDS_PER_DAY),
        Some(_) => None,
    }
}

/// A date as [`parse_date`] reads it, with its time of day, to the microsecond, unless that is midnight.
pub(crate) fn format_date(days: f64) -> String {
    const MICROS: i64 = 86_400_000_000;
    let of_day = ((days - days.floor()) * MICROS as f64).round() as i64;
    let (whole, of_day) = (days.floor() as i64 + of_day / MICROS, of_day % MICROS);
    let date = format_day(whole);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (of_day, micros) {
        (0, _) => date,
        (_, 0) => format!("{date}T{clock}"),
        _ => format!("{date}T{clock}.{micros:06}"),
    }
}

fn format_day(days: i64) -> String {
    // The inverse of `days_since_1970`, counted in eras of 400 years that begin in March.
    let day = days + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + i64::from(month <= 2))
}

/// Digits only: neither signs nor spaces.
fn number(digits: &[u8]) -> Option<i64> {
    let digit = |number: i64, digit: &u8| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'));
    digits.iter().try_fold(0, digit)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Seconds since midnight UTC; negative or more than a day where the time has a distance to UTC.
fn seconds(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|c| matches!(c, b'Z' | b'z' | b'+' | b'-')).unwrap_or(text.len());
    let (time, zone) = text.split_at(end);
    let (clock, fraction) = match time.iter().position(|&c| c == b'.') {
        None => (time, 0.0),
        Some(dot) => {
            let digits = &time[dot + 1..];
            if clock_parts(&time[..dot])?.len() != 3 || !(1..=9).contains(&digits.len()) {
                return None;
            }
            (&time[..dot], number(digits)? as f64 / 10f64.powi(digits.len() as i32))
        }
    };
    let (hour, minute, second) = match clock_parts(clock)?[..] {
        [hour, minute] => (hour, minute, 0),
        // A leap second counts as the next minute's first.
        [hour, minute, second @ 0..=60] => (hour, minute, second),
        _ => return None,
    };
    if hour > 23 || minute > 59 {
        return None;
    }
    let offset = match zone {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), clock @ ..] => {
            let (hours, minutes) = match clock {
                [_, _] => (number(clock)?, 0),
                [_, _, b':', _, _] => (number(&clock[..2])?, number(&clock[3..])?),
                [_, _, _, _] => (number(&clock[..2])?, number(&clock[2..])?),
                _ => return None,
            };
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if *sign == b'+' { 1 } else { -1 }
        }
        _ => return None,
    };
    Some((hour * 3600 + minute * 60 + second - offset) as f64 + fraction)
}

/// The numbers of `10:30:15`, two digits each.
fn clock_parts(clock: &[u8]) -> Option<Vec<i64>> {
    clock.split(|&c| c == b':').map(|part| if part.len() == 2 { number(part) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_days_and_times_their_fractions() {
        for (text, days) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2024-01-31", 19_753.0),
            ("0001-01-01", -719_162.0),
            ("1970-01-02 12:00", 1.5),
            ("1970-01-01T06:00:00Z", 0.25),
            ("1970-01-01T06:00:00.500z", 21_600.5 / 86_400.0),
            ("1970-01-01t01:30+01:30", 0.0),
            ("1970-01-01 23:00-0100", 1.0),
            ("1970-01-01 23:00:00-01", 1.0),
        ] {
            assert_eq!(parse_date(text), Some(days), "{text}");
        }
    }

    #[test]
    fn times_are_written_to_the_microsecond() {
        for text in ["2024-01-31", "2024-01-31T10:30:15", "1969-12-31T23:59:59.250000", "2024-02-29T00:00:00.000001"] {
            assert_eq!(format_date(parse_date(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2024",
            "2024-1-31",
            "2024-13-01",
            "2024-00-10",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "2024-01-00",
            "2024/01/31",
            "31.01.2024",
            "2024-01-31x",
            "2024-01-31T",
            "2024-01-31T1:30",
            "2024-01-31T24:00",
            "2024-01-31T10",
            "2024-01-31T10:60",
            "2024-01-31T10:30.5",
            "2024-01-31T10:30:15.",
            "2024-01-31T10:30+25",
            "+024-01-31",
            "2024-01-3é",
            "2024-01-31T10:30:15.0123456789",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_day_of_ten_thousand_years_reads_as_it_is_written(day in -719_528i64..2_932_897) {
            let text = format_date(day as f64);
            prop_assert_eq!(parse_date(&text), Some(day as f64), "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}", like in "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.+Z-]{0,16}") {
            let _ = parse_date(&text);
            let days = parse_date(&like);
            prop_assert!(days.is_none_or(f64::is_finite));
        }
    }
}
