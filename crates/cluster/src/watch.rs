//! The optimistic lock: read under WATCH, decide, commit unless somebody else changed what was read.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::{Colocated, Slot};
use redis::{Pipeline, Value};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::answer::{Answer, Step};
use crate::client::{Next, Shared};
use crate::error::{Call, Waiting};
use crate::node::{Link, Node};
use crate::pacing::Pacing;
use crate::silence::{CONNECTING, SILENCE, Silent};
use crate::{Client, Command, Error, Repeat, Transaction};

/// What was decided on what was read.
#[derive(Debug)]
pub enum Decision<T> {
    /// Carry this out if what is watched has not changed.
    Commit(Transaction),
    /// Leave everything as it is, with this result.
    Leave(T),
}

/// How an optimistic lock ended.
#[derive(Debug, PartialEq)]
#[must_use]
pub enum Ended<T> {
    /// It was carried out; the replies of the transaction's commands, in order.
    Committed(Vec<Value>),
    /// Nothing was to be done.
    Left(T),
}

/// What a decision is made on: reads of the watched slot, over the connection that watches.
#[derive(Clone)]
pub struct View(Arc<Round>);

struct Round {
    shared: Arc<Shared>,
    slot: Slot,
    until: Instant,
    node: Arc<Node>,
    asking: bool,
    state: Mutex<State>,
}

struct State {
    /// None when the round has ended.
    link: Option<Link>,
    /// Why the round can not be ended: a redirect, or a lost connection.
    broken: Option<Broken>,
}

/// Why a round ends without a decision. Nothing was written in it.
enum Broken {
    Refused(Answer, String),
    Lost(String),
}

impl Broken {
    /// The caller was told, and it is for the caller to say what follows.
    fn is_the_callers(&self) -> bool {
        matches!(self, Broken::Refused(answer, _) if answer.step(Repeat::Never) == Step::Tell)
    }
}

impl View {
    /// Sends a command that reads. Its keys are of the watched slot; those that the decision rests on must be watched.
    ///
    /// # Errors
    ///
    /// When it is of another slot, would write, or is refused. While the slot moves, the round is begun anew after the
    /// closure has returned the error.
    pub async fn read(&self, command: Command) -> Result<Value, Error> {
        let round = &*self.0;
        let slot = command.slot()?;
        if slot != round.slot {
            return Err(Error::refused(
                command.name(),
                &format!("slot {slot} is not the watched one, {}", round.slot),
            ));
        }
        if !command.is_readonly() {
            return Err(Error::refused(
                command.name(),
                "it may write, and would do so at once. Put it into the transaction",
            ));
        }
        let mut state = round.state.lock().await;
        let mut replies = match round.exchange(&mut state, std::slice::from_ref(&command)).await {
            Ok(replies) => replies,
            Err(cause) => {
                state.broken = Some(Broken::Lost(cause.clone()));
                return Err(Error::no_node(std::slice::from_ref(&round.node.address), cause));
            }
        };
        match replies.pop() {
            Some(Value::ServerError(fault)) => {
                let (code, detail) = (fault.code(), fault.details().unwrap_or_default());
                let answer = Answer::read(code, detail, &round.node.address);
                let call = Call::of(format!("{command:?}"), &answer, &round.shared);
                let error = Error::server(code, detail, &round.node.address, call);
                state.broken = Some(Broken::Refused(answer, format!("{code} {detail}")));
                Err(error)
            }
            Some(value) => Ok(value),
            None => Err(Error::reply(command.name(), &Value::Nil)),
        }
    }
}

impl Round {
    /// Sends commands, each after an ASKING where the slot is being moved here, and returns their replies.
    async fn exchange(&self, state: &mut State, commands: &[Command]) -> Result<Vec<Value>, String> {
        let mut pipeline = Pipeline::new();
        for command in commands {
            if self.asking {
                pipeline.cmd("ASKING");
            }
            pipeline.add_command(command.cmd().clone());
        }
        self.send(state, &pipeline).await
    }

    /// Gives the connection back, with nothing watched any more.
    fn end(&self, state: &mut State) {
        if let Some(link) = state.link.take() {
            self.node.apart.give_back(link);
        }
    }

    async fn send(&self, state: &mut State, pipeline: &Pipeline) -> Result<Vec<Value>, String> {
        let Some(link) = &mut state.link else { return Err("the round of this view has ended".to_owned()) };
        let sent = link.connection.send_packed_commands(pipeline, 0, pipeline.len());
        let heard = match self.asking {
            true => timeout_at(self.until, sent).await.map_err(|_| Silent::Late),
            false => self.shared.heard(self.slot, &self.node, SILENCE, self.until, sent).await,
        };
        match heard {
            Ok(Ok(replies)) => Ok(replies),
            Ok(Err(cause)) => Err(cause.to_string()),
            Err(silent) => silent.say(),
        }
    }
}

/// What a round came to.
enum Came<T> {
    To(Ended<T>),
    /// What was watched has changed.
    Contended,
    /// Not now, or not here; nothing was written.
    Broken(Broken),
}

impl Client {
    /// Reads, decides and commits under an optimistic lock: if any of `keys` changes between the read and the commit,
    /// nothing is written, and the closure is asked anew, up to `attempts` times. The connection is not shared meanwhile,
    /// since WATCH is a state of it.
    ///
    /// ```no_run
    /// # async fn example(client: echomq_cluster::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use echomq_cluster::{Command, Decision, Ended, Transaction, View};
    /// use echomq_keyspace::Colocated;
    ///
    /// let (cash, savings) = ("acct:{7}:cash", "acct:{7}:savings");
    /// let keys = Colocated::of([cash, savings])?;
    /// let ended = client.watch(&keys, 10, |view: View| async move {
    ///     let have = view.read(Command::new("GET").key(cash)).await?;
    ///     let have: i64 = redis::from_redis_value(have).unwrap_or(0);
    ///     if have < 50 {
    ///         return Ok(Decision::Leave(have));
    ///     }
    ///     let moves = [Command::new("DECRBY").key(cash).arg(50), Command::new("INCRBY").key(savings).arg(50)];
    ///     Ok(Decision::Commit(Transaction::of(moves)?))
    /// });
    /// match ended.await? {
    ///     Ended::Committed(_) => println!("moved 50"),
    ///     Ended::Left(have) => println!("only {have} there"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::is_contended`] when others were faster in every attempt; whatever the closure returns; a commit whose answer
    /// never came is [unknown](Error::is_unknown) and not repeated. A redirect begins the round anew, closure and all, until the deadline.
    pub async fn watch<T, D>(
        &self,
        keys: &Colocated<'_>,
        attempts: u32,
        decide: impl Fn(View) -> D,
    ) -> Result<Ended<T>, Error>
    where
        D: Future<Output = Result<Decision<T>, Error>>,
    {
        let mut pacing = Pacing::new(self.deadline());
        let (mut asked, mut contended): (Option<Arc<Node>>, u32) = (None, 0);
        loop {
            let shared = self.shared();
            let asking = asked.is_some();
            let node = match asked.take().or_else(|| shared.map.owner(keys.slot())) {
                Some(node) => node,
                None => {
                    let owner = shared.owner_after_a_look(keys.slot(), pacing.until).await;
                    owner.ok_or_else(|| late(&pacing, keys, Waiting::NoOwner))?
                }
            };
            shared.counters.slot(keys.slot());
            match round(shared, &node, asking, keys, pacing.until, &decide).await? {
                Came::To(ended) => return Ok(ended),
                Came::Contended => {
                    contended += 1;
                    if contended >= attempts {
                        return Err(Error::contended(keys.keys(), contended));
                    }
                    // Who lost waits a little, by chance, so that not all meet again.
                    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..500 << contended.min(6))))
                        .await;
                }
                Came::Broken(Broken::Lost(cause)) => {
                    shared.refresher.request();
                    wait(&mut pacing, keys, Waiting::Connect(cause)).await?;
                }
                Came::Broken(Broken::Refused(answer, said)) => {
                    asked = self.redirected(&mut pacing, keys, &node, answer, said).await?;
                }
            }
        }
    }

    /// Acts on a refusal of a round; returns the node to begin the next one at, if it is not the owner.
    async fn redirected(
        &self,
        pacing: &mut Pacing,
        keys: &Colocated<'_>,
        node: &Node,
        answer: Answer,
        said: String,
    ) -> Result<Option<Arc<Node>>, Error> {
        match self.shared().heed(&answer, Repeat::Never, || said.clone()) {
            Next::Hop(node) if pacing.hop().await => Ok(node),
            Next::Hop(_) => Err(late(pacing, keys, Waiting::SlotMoves)),
            Next::Pause(reason) => wait(pacing, keys, reason).await.map(|()| None),
            Next::Tell => {
                let (code, detail) = said.split_once(' ').unwrap_or((&said, ""));
                let call = Call::of("a transaction under WATCH".to_owned(), &answer, self.shared());
                Err(Error::server(code, detail, &node.address, call))
            }
        }
    }
}

async fn wait(pacing: &mut Pacing, keys: &Colocated<'_>, reason: Waiting) -> Result<(), Error> {
    if pacing.pause().await { Ok(()) } else { Err(late(pacing, keys, reason)) }
}

fn late(pacing: &Pacing, keys: &Colocated<'_>, reason: Waiting) -> Error {
    Error::deadline(pacing.elapsed(), Some(keys.slot()), reason)
}

/// WATCH, read and decide, MULTI … EXEC: once, at one node.
async fn round<T, D: Future<Output = Result<Decision<T>, Error>>>(
    shared: &Arc<Shared>,
    node: &Arc<Node>,
    asking: bool,
    keys: &Colocated<'_>,
    until: Instant,
    decide: &impl Fn(View) -> D,
) -> Result<Came<T>, Error> {
    let link = shared.apart(node);
    let link = match asking {
        true => link.await,
        false => shared.heard(keys.slot(), node, CONNECTING, until, link).await.unwrap_or_else(Silent::say),
    };
    let link = match link {
        Ok(link) => link,
        Err(cause) => return Ok(Came::Broken(Broken::Lost(cause))),
    };
    node.count();
    let state = Mutex::new(State { link: Some(link), broken: None });
    let round = Round { shared: shared.clone(), slot: keys.slot(), until, node: node.clone(), asking, state };
    let round = Arc::new(round);
    let watch = Command::new("WATCH").keys(keys.keys().iter().copied());
    {
        let mut state = round.state.lock().await;
        match round.exchange(&mut state, &[watch]).await {
            Ok(replies) => {
                if let Some(broken) = first_fault(&replies, node) {
                    return Ok(Came::Broken(broken));
                }
            }
            Err(cause) => return Ok(Came::Broken(Broken::Lost(cause))),
        }
    }
    let decision = decide(View(round.clone())).await;
    let mut state = round.state.lock().await;
    let ended = match (state.broken.take(), decision) {
        (Some(broken), _) if !broken.is_the_callers() => Ok(Came::Broken(broken)),
        (_, Ok(Decision::Commit(transaction))) => commit(&round, &mut state, transaction).await,
        (_, Ok(Decision::Leave(value))) => {
            unwatch(&round, &mut state).await;
            Ok(Came::To(Ended::Left(value)))
        }
        (_, Err(error)) => {
            unwatch(&round, &mut state).await;
            Err(error)
        }
    };
    // A view that outlives its round reads nothing any more.
    state.link = None;
    ended
}

async fn commit<T>(round: &Round, state: &mut State, transaction: Transaction) -> Result<Came<T>, Error> {
    if transaction.slot() != round.slot {
        let why = format!("slot {} is not the watched one, {}", transaction.slot(), round.slot);
        return Err(Error::refused("MULTI", &why));
    }
    let mut pipeline = Pipeline::new();
    if round.asking {
        pipeline.cmd("ASKING");
    }
    pipeline.cmd("MULTI");
    for command in transaction.commands() {
        pipeline.add_command(command.cmd().clone());
    }
    pipeline.cmd("EXEC");
    let replies = match round.send(state, &pipeline).await {
        Ok(replies) => replies,
        Err(cause) => return Err(Error::unknown(Some(round.slot), &round.node.address, cause)),
    };
    match replies.last() {
        Some(Value::Nil) => {
            round.end(state);
            Ok(Came::Contended)
        }
        Some(Value::Array(answers)) => {
            round.end(state);
            Ok(Came::To(Ended::Committed(answers.clone())))
        }
        Some(Value::ServerError(_)) => match first_fault(&replies, &round.node) {
            Some(Broken::Refused(mut answer, said)) => {
                // Where MULTI itself was refused, what followed it was carried out, or refused, one by one.
                let multi = replies.get(usize::from(round.asking));
                answer.partly |= matches!(multi, Some(Value::ServerError(_)));
                Ok(Came::Broken(Broken::Refused(answer, said)))
            }
            Some(broken) => Ok(Came::Broken(broken)),
            None => Err(Error::reply("EXEC", &Value::Nil)),
        },
        other => Err(Error::reply("EXEC", other.unwrap_or(&Value::Nil))),
    }
}

/// Ends the watching; the connection goes back only when that is certain.
async fn unwatch(round: &Round, state: &mut State) {
    let mut pipeline = Pipeline::new();
    pipeline.cmd("UNWATCH");
    if let Ok(replies) = round.send(state, &pipeline).await
        && replies == [Value::Okay]
    {
        round.end(state);
    }
}

/// The first error is the true reason for those that follow.
fn first_fault(replies: &[Value], node: &Node) -> Option<Broken> {
    replies.iter().find_map(|reply| match reply {
        Value::ServerError(fault) => {
            let (code, detail) = (fault.code(), fault.details().unwrap_or_default());
            Some(Broken::Refused(Answer::read(code, detail, &node.address), format!("{code} {detail}")))
        }
        _ => None,
    })
}
