//! The check of a contract: what would fail on a cluster, and what is proven not to.

mod cardinality;
mod names;
mod operations;
mod tags;

use crate::contract::{Contract, Family, Key, Operation};
use crate::finding::{Code, Finding, Place, Report};

impl Contract {
    /// Proves each operation co-located, or says why it is not, and finds what else is wrong with the names.
    ///
    /// A proof holds for all values, by construction: the keys have the same text and the same field between their first
    /// braces, the values of that field have no brace and are not empty, and no field before it can have a brace. So the
    /// same bytes are hashed, whatever they are.
    ///
    /// ```
    /// use echomq_contract::Contract;
    ///
    /// let contract = Contract::parse(
    ///     r#"
    ///     contract = 1
    ///     [family.order]
    ///     tag = { field = "order", alphabet = "A-Z0-9", length = [1, 16], cardinality = 1_000_000 }
    ///     keys.head = { type = "hash", pattern = "order:{order}:head" }
    ///     keys.items = { type = "list", pattern = "order:{order}:items" }
    ///     [operation.add]
    ///     kind = "script"
    ///     keys = ["order.head", "order.items"]
    ///     "#,
    /// )?;
    /// let report = contract.check();
    /// assert!(report.is_clean());
    /// assert_eq!(report.proofs[0].tag.as_deref(), Some("{<order>}"));
    /// # Ok::<(), echomq_contract::ContractError>(())
    /// ```
    pub fn check(&self) -> Report {
        let mut findings = Vec::new();
        for family in &self.families {
            cardinality::check(self, family, &mut findings);
            tags::check(family, &mut findings);
        }
        names::check(self, &mut findings);
        let proofs = operations::check(self, &mut findings);
        findings.sort_by_key(|finding| finding.at.line);
        Report { findings, proofs }
    }
}

fn finding(code: Code, at: Place, text: String, remedy: impl Into<String>) -> Finding {
    Finding { severity: code.severity(), code, at, text, remedy: remedy.into() }
}

fn at_family(family: &Family, line: usize, setting: &str) -> Place {
    Place { line, path: format!("family.{}.{setting}", family.name) }
}

fn at_key(family: &Family, key: &Key, line: usize) -> Place {
    at_family(family, line, &format!("keys.{}", key.name))
}

fn at_operation(operation: &Operation, line: usize) -> Place {
    Place { line, path: format!("operation.{}", operation.name) }
}
