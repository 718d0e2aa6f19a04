//! What a job has behind it. The hash `tries` holds it as text, `claims failures lost priority error`.

/// Counts are of what has ended: the run that goes on is not in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// Claims that ended in a failure or a lost lease.
    pub claims: u32,
    /// Runs that failed.
    pub failures: u32,
    /// Runs whose lease ran out.
    pub lost: u32,
    /// The job's priority; 0 unless it was given one, a lower number goes first.
    pub priority: i32,
    /// What the last failure said.
    pub error: Vec<u8>,
}

impl Tries {
    /// Which run this one is: 1 for the first.
    pub fn attempt(&self) -> u32 {
        self.failures.saturating_add(self.lost).saturating_add(1)
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Tries> {
        let mut fields = text.splitn(5, |&byte| byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<i64>().ok();
        let claims = u32::try_from(number()?).ok()?;
        let failures = u32::try_from(number()?).ok()?;
        let lost = u32::try_from(number()?).ok()?;
        let priority = i32::try_from(number()?).ok()?;
        Some(Tries { claims, failures, lost, priority, error: fields.next()?.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_may_hold_anything() {
        let tries = Tries::parse(b"3 2 1 -4 it broke\nat line 2 \xff").unwrap();
        let error = b"it broke\nat line 2 \xff".to_vec();
        assert_eq!(tries, Tries { claims: 3, failures: 2, lost: 1, priority: -4, error });
        assert_eq!(tries.attempt(), 4);
    }

    #[test]
    fn what_is_no_tries_is_refused() {
        for text in [&b""[..], b"1 2 3", b"1 2 3 4", b"-1 0 0 0 x", b"a 0 0 0 x"] {
            assert_eq!(Tries::parse(text), None, "{text:?}");
        }
    }
}
