//! A transfer, step by step.

use echomq_cluster::Repeat;

use super::Account;
use super::stamps::Intent;
use crate::Error;
use crate::call::{Source, run, script};

static DEBIT: Source = script!("transfer_debit");

/// How a transfer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It has happened, now or at an earlier call with the same token.
    Done,
    /// There is less; nothing was written.
    Insufficient {
        /// So much there is.
        have: i64,
    },
    /// The token belongs to another transfer; nothing was written.
    OtherTransfer,
    /// It was debited, and stays open: the stamps of the two accounts do not follow on each other, since one of them has lost a transfer
    /// in a failover.
    Diverged,
}

/// One transfer. It can be dropped between any two steps and finished by others.
#[must_use = "nothing is sent before `run` or `step`"]
pub struct Transfer {
    from: Account,
    to: Account,
    amount: u32,
    token: String,
    next: Next,
}

/// What is to be done.
enum Next {
    Debit,
    Credit {
        intent: Intent,
        /// One before it, to the same account, may still be open.
        earlier: bool,
    },
    Commit(Intent),
    Nothing(Outcome),
}

impl Transfer {
    /// So much from one account to another, under a token of the caller's, the same for each repetition. Nothing is sent.
    ///
    /// # Errors
    ///
    /// The same account twice, an amount of 0, or a token that is not of 1 to 64 printable ASCII characters other than blanks.
    pub fn new(from: &Account, to: &Account, amount: u32, token: &str) -> Result<Transfer, Error> {
        let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if from.keys == to.keys || amount == 0 || !plain || !(1..=64).contains(&token.len()) {
            return Err(Error::asked(format!(
                "a transfer of {amount} from {:?} to {:?} under the token {token:?} makes no sense; use two accounts, \
                 an amount of 1 or more, and a token of 1 to 64 ASCII characters without blanks",
                from.name(),
                to.name()
            )));
        }
        let (from, to, token) = (from.clone(), to.clone(), token.to_owned());
        Ok(Transfer { from, to, amount, token, next: Next::Debit })
    }

    /// Does all that is left to do.
    ///
    /// # Errors
    ///
    /// Those of the connector. What was done stays done: run it again, or leave it to others.
    pub async fn run(mut self) -> Result<Outcome, Error> {
        loop {
            if let Some(outcome) = self.step().await? {
                return Ok(outcome);
            }
        }
    }

    /// Does the next step, and returns the outcome after the last one. After an error it is the same step again.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn step(&mut self) -> Result<Option<Outcome>, Error> {
        self.next = match &self.next {
            Next::Debit => self.debit().await?,
            Next::Credit { intent, earlier } => self.credit(intent, *earlier).await?,
            Next::Commit(intent) => {
                self.from.commit(intent).await?;
                Next::Nothing(Outcome::Done)
            }
            Next::Nothing(outcome) => Next::Nothing(outcome.clone()),
        };
        match &self.next {
            Next::Nothing(outcome) => Ok(Some(outcome.clone())),
            _ => Ok(None),
        }
    }

    async fn debit(&self) -> Result<Next, Error> {
        let keys = &self.from.keys;
        let keys = [keys.balance(), keys.sent(), keys.open(), keys.intents(), keys.done(&self.token)];
        let args = (&self.token, self.to.name(), self.amount);
        let reply: Vec<String> = run(&self.from.client, &DEBIT, &keys, args, Repeat::Idempotent).await?;
        let reply: Vec<&str> = reply.iter().map(String::as_str).collect();
        let (intent, next): (&str, fn(Intent) -> Next) = match reply[..] {
            ["insufficient", have] => {
                let have = have.parse().map_err(|_| Error::stored("a balance", format!("{have:?}")))?;
                return Ok(Next::Nothing(Outcome::Insufficient { have }));
            }
            ["open", intent, "0"] => (intent, |intent| Next::Credit { intent, earlier: false }),
            ["open", intent, _] => (intent, |intent| Next::Credit { intent, earlier: true }),
            ["done", intent] => (intent, |_| Next::Nothing(Outcome::Done)),
            _ => return Err(Error::stored("the reply of a script", format!("{reply:?}"))),
        };
        let intent = Intent::parse(&self.token, intent)?;
        if (intent.amount, &intent.to) != (self.amount, &self.to.name()) {
            return Ok(Next::Nothing(Outcome::OtherTransfer));
        }
        Ok(next(intent))
    }

    async fn credit(&self, intent: &Intent, earlier: bool) -> Result<Next, Error> {
        let mut turn = true;
        if earlier {
            let before = self.from.recover_until(intent.stamp.version.saturating_sub(1)).await?;
            turn = !before.diverged.contains(&intent.to);
        }
        match turn && self.from.credit(intent).await? {
            true => Ok(Next::Commit(intent.clone())),
            false => Ok(Next::Nothing(Outcome::Diverged)),
        }
    }
}
