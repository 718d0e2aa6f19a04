//! Points in time as they are typed and shown.

use anyhow::bail;
use echomq_keyspace::Escaped;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A number below this is taken for seconds, not for milliseconds: it would be a day before March 1973.
const FEWEST_MS: u64 = 100_000_000_000;

/// Reads a point in time, in ms since 1970: `2100-01-01T00:00:00Z`, or the number itself. Part of a millisecond
/// counts as one.
///
/// # Errors
///
/// For anything else, with the text as it was typed.
pub(crate) fn parse(typed: &str) -> anyhow::Result<u64> {
    let shown = Escaped(typed.as_bytes());
    if !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit()) {
        return match typed.parse::<u64>() {
            Ok(ms) if ms < FEWEST_MS => {
                bail!("\"{shown}\" looks like seconds; write milliseconds since 1970")
            }
            Ok(ms) if ms <= echomq::DUE_MAX_MS => Ok(ms),
            _ => bail!("\"{shown}\" is too late: a time above 2^53 - 1 ms is not kept exactly"),
        };
    }
    match OffsetDateTime::parse(typed, &Rfc3339) {
        Ok(moment) => match u128::try_from(moment.unix_timestamp_nanos()) {
            Ok(ns) => Ok(ns.div_ceil(1_000_000) as u64),
            Err(_) => bail!("\"{shown}\" is before 1970"),
        },
        Err(_) => bail!(
            "\"{shown}\" is no point in time; write it like 2100-01-01T00:00:00Z or 2100-01-01T02:00:00+02:00, or in milliseconds since 1970"
        ),
    }
}

/// Shows ms since 1970 as UTC, exactly.
pub(crate) fn text(ms: u64) -> String {
    let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000);
    let Ok(moment) = moment.map(|moment| moment.to_offset(UtcOffset::UTC)) else { return format!("{ms} ms") };
    let (date, time) = (moment.date(), moment.time());
    let fraction = match time.millisecond() {
        0 => String::new(),
        ms => format!(".{ms:03}"),
    };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_as_the_same_moment() {
        for (shown, ms) in [
            ("2100-01-01T00:00:00Z", 4_102_444_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("2024-02-29T12:34:56.007Z", 1_709_210_096_007),
        ] {
            assert_eq!(
                (text(ms).as_str(), parse(shown).unwrap(), parse(&ms.to_string()).unwrap()),
                (shown, ms, ms)
            );
        }
        assert_eq!(parse("2100-01-01T02:00:00+02:00").unwrap(), 4_102_444_800_000);
        assert_eq!(parse("2100-01-01T00:00:00.0000001Z").unwrap(), 4_102_444_800_001);
    }

    #[test]
    fn the_latest_moment_that_is_kept_is_shown_too() {
        assert_eq!(text(echomq::DUE_MAX_MS), "287396-10-12T08:59:00.991Z");
        assert_eq!(parse("9007199254740991").unwrap(), echomq::DUE_MAX_MS);
    }

    #[test]
    fn anything_else_is_refused_with_what_was_typed() {
        for (typed, why) in [
            ("1796058445", "looks like seconds"),
            ("9007199254740992", "too late"),
            ("99999999999999999999999", "too late"),
            ("1969-12-31T23:59:59Z", "before 1970"),
            ("tomorrow", "no point in time"),
            ("2100-01-01", "no point in time"),
            ("2100-13-01T00:00:00Z", "no point in time"),
            ("", "no point in time"),
        ] {
            let error = parse(typed).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(&format!("\"{typed}\"")), "{error}");
        }
    }
}
