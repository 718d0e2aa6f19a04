//! What the clients know of their own writes: what each asked for, when, and what it was told.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::time::Duration;

/// The mark of one write, which no other write ever has: wherever it is found, that write has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(u64);

impl Token {
    /// The mark of a client's `n`-th write.
    pub fn new(client: u32, n: u32) -> Token {
        Token(u64::from(client) << 32 | u64::from(n))
    }

    /// What a transfer under this mark moves from one balance to the other: 1 to 9.
    pub fn amount(self) -> i64 {
        1 + (self.0 % 9) as i64
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Token {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Token, ParseIntError> {
        text.parse().map(Token)
    }
}

/// What a client does all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    /// Appends its token to one key.
    Single,
    /// The same, and asks that a replica has it.
    Replicated,
    /// Writes its token to four keys of an entity in one MULTI … EXEC.
    Transaction,
    /// Reads two balances of an entity under WATCH, and commits what follows from them.
    Watch,
    /// Writes its token to four keys of an entity by one script.
    Script,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 5] =
        [Workload::Single, Workload::Replicated, Workload::Transaction, Workload::Watch, Workload::Script];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Single => "single",
            Workload::Replicated => "replicated",
            Workload::Transaction => "transaction",
            Workload::Watch => "watch",
            Workload::Script => "script",
        }
    }
}

/// What a client was told of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has happened, and a replica has it.
    Replicated,
    /// It has happened.
    Acknowledged,
    /// It may have happened.
    Unknown,
    /// It has certainly not happened.
    Refused,
}

impl Fate {
    /// The client was promised that the write is there.
    pub fn is_promised(self) -> bool {
        matches!(self, Fate::Replicated | Fate::Acknowledged)
    }
}

/// One write as its client saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What kind of write.
    pub workload: Workload,
    /// The entity it wrote to.
    pub entity: u16,
    /// Its mark.
    pub token: Token,
    /// What the client was told in the end.
    pub fate: Fate,
    /// When it began, since the beginning of the run.
    pub invoked: Duration,
    /// When the client was told.
    pub told: Duration,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { workload, entity, token, fate, invoked, told } = self;
        let (invoked, told) = (invoked.as_secs_f64(), told.as_secs_f64());
        write!(
            f,
            "{} {token} at entity {entity}, invoked {invoked:.3} s, {fate:?} {told:.3} s",
            workload.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_write_has_a_mark_of_its_own_that_can_be_read_back() {
        let ends = [0, 1, u32::MAX];
        let tokens: Vec<Token> =
            ends.iter().flat_map(|client| ends.iter().map(|n| Token::new(*client, *n))).collect();
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), 9);
        for token in tokens {
            assert_eq!(token.to_string().parse(), Ok(token));
            assert!((1..=9).contains(&token.amount()));
        }
        assert!("1x".parse::<Token>().is_err());
    }
}
