//! Key contracts: the key families of an application in a file, `keyspace.toml`, with the proof that each operation's keys
//! share a slot, and constructors made from it.
//!
//! ```
//! use echomq_contract::{Code, Contract};
//!
//! let contract = Contract::parse(
//!     r#"
//!     contract = 1
//!
//!     [family.account]
//!     tag = { field = "account", alphabet = "0-9", length = [8, 8], cardinality = 500_000 }
//!     keys.balance = { type = "string", pattern = "account:{account}:balance" }
//!     keys.entries = { type = "stream", pattern = "account:{account}:entries" }
//!
//!     [operation.deposit]
//!     kind = "transaction"
//!     keys = ["account.balance", "account.entries"]
//!
//!     [operation.transfer]
//!     kind = "transaction"
//!     keys = ["account{from}.balance", "account{to}.balance"]
//!     "#,
//! )?;
//! let report = contract.check();
//! assert_eq!(report.proofs[0].operation, "deposit");
//! assert_eq!(report.findings[0].code, Code::TwoTags);
//! assert_eq!(report.findings[0].at.line, 15);
//! # Ok::<(), echomq_contract::ContractError>(())
//! ```
//!
//! # What this crate does not do
//!
//! * It opens no file and no socket, and prints nothing: text in, text out. Whether the keys of a server follow the contract is
//!   for others to ask.
//! * It does not read a program or a script: an operation touches what the file says.
//! * It mends nothing. Every finding says what to write.

mod check;
mod contract;
mod directory;
mod error;
mod finding;
mod generate;
mod read;
mod shape;
mod spelling;

#[doc = include_str!("../keyspace-toml.md")]
pub mod format {}

pub use contract::{Contract, Family, Field, Key, Mention, Operation, OperationKind, Pattern};
pub use directory::{Directory, Entry, Likeness, Title};
pub use error::ContractError;
pub use finding::{Code, Finding, Place, Proof, Report, Severity};
pub use generate::{Language, SourceFile, Unsound};
