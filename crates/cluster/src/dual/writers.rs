//! What the announcements of all processes allow. Pure.

use std::time::Duration;

use super::Stage;

/// The processes that have announced themselves, by the server's clock. Whoever has not is not known: that no such process
/// runs is for the operator to see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writers {
    /// The server's time when this was read, in ms since 1970.
    pub now_ms: u64,
    /// The processes, by name.
    pub list: Vec<Writer>,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Its name.
    pub process: String,
    /// The version of its program.
    pub version: String,
    /// How far it is.
    pub stage: Stage,
    /// Since when, in the server's ms since 1970.
    pub since_ms: u64,
    /// Until when its word holds.
    pub until_ms: u64,
    /// When it last met a value under an old name, if ever.
    pub met_old_ms: Option<u64>,
}

/// How many keys with old names a scan has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyKeys {
    /// None, and it saw all keys.
    None,
    /// So many.
    Found(u64),
    /// None, but it did not see all keys, or there was no scan.
    Unknown,
}

impl Writers {
    /// Whether all read both names, so that [`Stage::Lead`] may begin.
    ///
    /// # Errors
    ///
    /// What is missing, a text each.
    pub fn all_dual(&self) -> Result<(), Vec<String>> {
        verdict(self.nobody().into_iter().collect())
    }

    /// Whether all write the new name, so that values may be relocated.
    ///
    /// # Errors
    ///
    /// What is missing, a text each.
    pub fn all_lead(&self) -> Result<(), Vec<String>> {
        let followers = self.list.iter().filter(|writer| writer.stage != Stage::Lead).map(|writer| {
            format!(
                "{} (version {}) still writes old names: bring it to Stage::Lead",
                writer.process, writer.version
            )
        });
        verdict(self.nobody().into_iter().chain(followers).collect())
    }

    /// Whether the old names can be taken out of the programs: all lead, for `quiet` nobody has met a value under an old name,
    /// and there is none.
    ///
    /// # Errors
    ///
    /// What is missing, a text each.
    pub fn may_switch_off(&self, quiet: Duration, legacy: LegacyKeys) -> Result<(), Vec<String>> {
        let mut missing = self.all_lead().err().unwrap_or_default();
        let quiet_ms = u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX);
        let ago = |ms: u64| self.now_ms.saturating_sub(ms);
        let seconds = |ms: u64| ms as f64 / 1_000.0;
        for writer in &self.list {
            if let Some(met) = writer.met_old_ms.filter(|met| ago(*met) < quiet_ms) {
                let text = format!("{} met an old name {:.1} s ago", writer.process, seconds(ago(met)));
                missing.push(format!("{text}: wait until none was met for {:.1} s", seconds(quiet_ms)));
            }
            if ago(writer.since_ms) < quiet_ms {
                let text = format!("{} is known for {:.1} s", writer.process, seconds(ago(writer.since_ms)));
                missing.push(format!("{text}: wait until it is {:.1} s", seconds(quiet_ms)));
            }
        }
        match legacy {
            LegacyKeys::None => {}
            LegacyKeys::Found(keys) => missing.push(format!("{keys} keys have old names: relocate them")),
            LegacyKeys::Unknown => {
                missing.push("no scan has seen all keys: scan them without limits".to_owned());
            }
        }
        verdict(missing)
    }

    fn nobody(&self) -> Option<String> {
        self.list
            .is_empty()
            .then(|| "no process has announced itself: let each do so before its first write".to_owned())
    }
}

fn verdict(missing: Vec<String>) -> Result<(), Vec<String>> {
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(process: &str, stage: Stage, since_ms: u64, met_old_ms: Option<u64>) -> Writer {
        Writer {
            process: process.to_owned(),
            version: "2".to_owned(),
            stage,
            since_ms,
            until_ms: 200_000,
            met_old_ms,
        }
    }

    fn writers(list: Vec<Writer>) -> Writers {
        Writers { now_ms: 100_000, list }
    }

    const QUIET: Duration = Duration::from_secs(60);

    #[test]
    fn nobody_announced_is_no_consent() {
        assert!(writers(Vec::new()).all_dual().unwrap_err()[0].contains("no process has announced itself"));
        assert!(writers(Vec::new()).all_lead().is_err());
        assert!(writers(Vec::new()).may_switch_off(QUIET, LegacyKeys::None).is_err());
    }

    #[test]
    fn one_that_follows_is_named() {
        let both = writers(vec![writer("a", Stage::Lead, 0, None), writer("b", Stage::Follow, 0, None)]);
        assert_eq!(both.all_dual(), Ok(()));
        let missing = both.all_lead().unwrap_err();
        assert_eq!(missing, ["b (version 2) still writes old names: bring it to Stage::Lead"]);
        assert!(both.may_switch_off(QUIET, LegacyKeys::None).is_err());
    }

    #[test]
    fn the_old_names_go_when_it_was_quiet_and_none_is_left() {
        let sound = || writer("a", Stage::Lead, 1_000, Some(39_000));
        assert_eq!(writers(vec![sound()]).may_switch_off(QUIET, LegacyKeys::None), Ok(()));
        for (list, legacy, part) in [
            (
                vec![writer("b", Stage::Lead, 1_000, Some(41_000))],
                LegacyKeys::None,
                "b met an old name 59.0 s ago",
            ),
            (vec![writer("c", Stage::Lead, 50_000, None)], LegacyKeys::None, "c is known for 50.0 s"),
            (vec![sound()], LegacyKeys::Found(3), "3 keys have old names"),
            (vec![sound()], LegacyKeys::Unknown, "no scan has seen all keys"),
        ] {
            let missing = writers(list).may_switch_off(QUIET, legacy).unwrap_err();
            assert!(missing.len() == 1 && missing[0].contains(part), "{missing:?}");
        }
    }
}
