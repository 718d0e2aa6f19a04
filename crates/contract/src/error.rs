//! Why a text is no contract.

use std::fmt;

/// Why a text is no contract: where, what, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractError {
    pub(crate) line: usize,
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) remedy: String,
}

impl ContractError {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The setting that it is about, such as `family.order.tag`; empty where the text is no TOML.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What to do about it.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}; {}", self.text, self.remedy)
    }
}

impl std::error::Error for ContractError {}
