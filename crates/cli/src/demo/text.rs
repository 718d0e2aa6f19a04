//! Numbers for people.

/// With a comma at every thousand.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds with three digits or so: `0.42 ms`, `12.3 ms`, `1.20 s`.
pub(super) fn ms(ms: f64) -> String {
    match ms {
        ..10.0 => format!("{ms:.2} ms"),
        ..100.0 => format!("{ms:.1} ms"),
        ..1_000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_time_has_about_three_digits() {
        for (time, text) in [(0.417, "0.42 ms"), (12.34, "12.3 ms"), (345.6, "346 ms"), (1_204.0, "1.20 s")] {
            assert_eq!(ms(time), text);
        }
    }
}
