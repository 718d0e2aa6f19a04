//! Spans of time as they are typed: `10s`, `250ms`, `1h30m`. Whole milliseconds, exactly.

use std::time::Duration;

use anyhow::bail;

/// Units and their milliseconds, longest name first, so that `ms` is not read as `m`.
const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Above 2^53 - 1 ms a server does not keep a time exactly.
const MOST_MS: u64 = echomq::DUE_MAX_MS;

/// Reads a span. A number needs a unit, but for 0; a fraction is taken when it is a whole number of milliseconds.
///
/// # Errors
///
/// For anything else, with the text as it was typed.
pub(crate) fn parse(typed: &str) -> anyhow::Result<Duration> {
    let shown = echomq_keyspace::Escaped(typed.as_bytes());
    match milliseconds(typed) {
        Ok(ms) => Ok(Duration::from_millis(ms)),
        Err(why) => {
            bail!("\"{shown}\" is no span of time: {why}; write it like 10s, 250ms, 1.5s, 1h30m or 7d")
        }
    }
}

fn milliseconds(typed: &str) -> Result<u64, &'static str> {
    if typed == "0" {
        return Ok(0);
    }
    if typed.is_empty() {
        return Err("it is empty");
    }
    if typed.starts_with('-') {
        return Err("it is negative");
    }
    let mut rest = typed;
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let number = digits(rest, |byte| byte.is_ascii_digit() || byte == b'.');
        if number.is_empty() {
            return Err("it is not a number with a unit");
        }
        rest = &rest[number.len()..];
        let unit = UNITS.iter().find(|(name, _)| rest.starts_with(name));
        let Some((name, ms)) = unit else {
            return Err(if rest.is_empty() {
                "it has no unit"
            } else {
                "it has a unit that is none of ms, s, m, h, d"
            });
        };
        rest = &rest[name.len()..];
        let part = times(number, *ms)?;
        sum = sum.checked_add(part).filter(|sum| *sum <= MOST_MS).ok_or(TOO_LONG)?;
    }
    Ok(sum)
}

const TOO_LONG: &str = "it is longer than 2^53 - 1 ms, about 285,000 years";

/// A decimal number of units in whole milliseconds.
fn times(number: &str, unit_ms: u64) -> Result<u64, &'static str> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || number.ends_with('.') || !is_number(fraction) {
        return Err("it has a number that can not be read");
    }
    let whole_ms = whole.parse::<u64>().ok().and_then(|units| units.checked_mul(unit_ms)).ok_or(TOO_LONG)?;
    let fraction = fraction.trim_end_matches('0');
    let scale = u32::try_from(fraction.len()).ok().and_then(|places| 10_u64.checked_pow(places));
    let part = if fraction.is_empty() { Some(0) } else { fraction.parse::<u64>().ok() };
    let part_ms = part.zip(scale).and_then(|(part, scale)| {
        let scaled = part.checked_mul(unit_ms)?;
        scaled.is_multiple_of(scale).then_some(scaled / scale)
    });
    let part_ms = part_ms.ok_or("it is not a whole number of milliseconds")?;
    whole_ms.checked_add(part_ms).ok_or(TOO_LONG)
}

fn digits(text: &str, is_digit: impl Fn(u8) -> bool) -> &str {
    let end = text.bytes().position(|byte| !is_digit(byte)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_to_the_millisecond() {
        for (typed, ms) in [
            ("0", 0),
            ("0s", 0),
            ("1ms", 1),
            ("10s", 10_000),
            ("1.5s", 1_500),
            ("0.001s", 1),
            ("1.50m", 90_000),
            ("1h30m", 5_400_000),
            ("30d", 2_592_000_000),
            ("2147483648ms", 2_147_483_648),
            ("9007199254740991ms", 9_007_199_254_740_991),
        ] {
            assert_eq!(parse(typed).unwrap(), Duration::from_millis(ms), "{typed}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_was_typed() {
        for (typed, why) in [
            ("", "empty"),
            ("10", "no unit"),
            ("-1", "negative"),
            ("-1ms", "negative"),
            ("1.5ms", "whole number of milliseconds"),
            ("0.0001s", "whole number of milliseconds"),
            ("NaN", "not a number with a unit"),
            ("Infinity", "not a number with a unit"),
            ("1e20", "a unit that is none of"),
            ("1e20ms", "a unit that is none of"),
            ("9007199254740992ms", "longer than"),
            ("9007199254740993ms", "longer than"),
            ("99999999999999999999999d", "longer than"),
            ("1..5s", "can not be read"),
            (".5s", "can not be read"),
            ("5.s", "can not be read"),
            ("10 s", "a unit that is none of"),
            ("10x", "a unit that is none of"),
            ("١s", "not a number"),
        ] {
            let error = parse(typed).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("no span of time"), "{typed}: {error}");
            assert!(typed.is_ascii() == error.contains(&format!("\"{typed}\"")), "{error}");
        }
    }
}
