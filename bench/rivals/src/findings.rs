//! What one trial of one client came to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::counter::Tally;

/// Named figures in order, and what is wrong about them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    pub(crate) figures: Map<String, Value>,
    /// Sentences; empty when all is as it should be.
    pub(crate) faults: Vec<String>,
}

impl Findings {
    /// A trial that did not come to an end.
    pub(crate) fn broken(why: String) -> Findings {
        let mut findings = Findings::default();
        findings.set("did not end", &why);
        findings.faults.push(why);
        findings
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Serialize) {
        self.figures.insert(name.to_owned(), serde_json::json!(value));
    }

    /// Holds that something is so; `fault` is the sentence for when it is not.
    pub(crate) fn expect(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    /// The figures of increments, `whose` at the front of each name; all `wanted` must have been answered in turn, and
    /// be in the keys once.
    pub(crate) fn set_tally(&mut self, whose: &str, tally: &Tally, wanted: i64) {
        self.set(&format!("{whose}ok of {wanted}"), tally.ok);
        for (name, count) in [
            ("errors", tally.errors),
            ("hung", tally.hung),
            ("foreign replies", tally.foreign),
            ("replies out of turn", tally.out_of_turn),
            ("lost", tally.lost),
            ("doubled", tally.doubled),
        ] {
            self.set(&format!("{whose}{name}"), count);
            self.expect(count == 0, || format!("{whose}{name}: {count}"));
        }
        self.expect(tally.ok == wanted, || format!("{whose}ok: {} of {wanted}", tally.ok));
    }
}
