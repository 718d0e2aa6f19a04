//! What operators need to know of the keys on a server.
//!
//! [`Verifier`] holds real keys against a contract: their types, their slots by the server's own word, names that no family
//! claims, names from before, and slots that hold more than their share.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use echomq_cluster::Client;
//! use echomq_contract::Contract;
//! use echomq_ops::{Limits, Verifier};
//!
//! let client = Client::connect("redis://127.0.0.1:7001").await?;
//! let contract = Contract::echomq();
//! let mut verifier = Verifier::new(&client, &contract, Limits::default());
//! verifier.scan(|coverage| eprintln!("{} keys", coverage.keys)).await;
//! let verification = verifier.finish();
//! assert!(verification.is_complete() && verification.is_fine());
//! # Ok(()) }
//! ```
//!
//! # What this crate does not do
//!
//! * It prints nothing: it returns what was found, as values that are also JSON.
//! * It writes nothing to a server and deletes nothing there.
//! * It guesses nothing: what could not be asked is named, with the reason.

mod generalise;
mod shown;
mod verify;

pub use generalise::generalise;
pub use shown::Name;
pub use verify::{
    BeforeGroup, Comparison, Counted, Coverage, Hot, HotSlot, Limits, Mistyped, Moved, Shortfall, Stranger,
    StrangerGroup, Verification, Verifier, WrongSlot,
};
