//! Numbers and command lines for people.

use std::path::Path;

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

/// How this program was started, so that it can be typed again.
pub(super) fn program() -> String {
    let typed = std::env::args_os().next().unwrap_or_else(|| "echomq".into());
    program_of(Path::new(&typed))
}

/// What lies in a `target` folder was built by cargo, which most likely has started it too.
fn program_of(typed: &Path) -> String {
    let is_built = typed.components().any(|part| part.as_os_str() == "target");
    if is_built { "cargo run --release --".to_owned() } else { typed.to_string_lossy().into_owned() }
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
    fn a_program_is_named_as_it_is_typed() {
        for (typed, text) in [
            ("echomq", "echomq"),
            ("/usr/bin/echomq", "/usr/bin/echomq"),
            ("target/release/echomq", "cargo run --release --"),
            ("/home/ann/echomq/target/debug/echomq", "cargo run --release --"),
            ("./targets/echomq", "./targets/echomq"),
        ] {
            assert_eq!(program_of(Path::new(typed)), text);
        }
    }

    #[test]
    fn a_time_has_about_three_digits() {
        for (time, text) in [(0.417, "0.42 ms"), (12.34, "12.3 ms"), (345.6, "346 ms"), (1_204.0, "1.20 s")] {
            assert_eq!(ms(time), text);
        }
    }
}
