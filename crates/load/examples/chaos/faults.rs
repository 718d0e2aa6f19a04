//! The faults of `testkit` as what breaks the cluster of a chaos run.

use echomq_load::chaos::{Breaker, Strike};
use testkit::Faults;

pub(crate) struct Hand(pub(crate) Faults);

impl Breaker for Hand {
    fn strike(&mut self) -> Strike {
        let struck = self.0.strike();
        Strike { kind: struck.fault.name(), what: struck.what, at: struck.at, serving: struck.serving }
    }

    fn mend(&mut self) -> Vec<String> {
        let promoted = self.0.mend();
        promoted.iter().map(|node| format!("node {node} is a primary though no fault promoted it")).collect()
    }
}
