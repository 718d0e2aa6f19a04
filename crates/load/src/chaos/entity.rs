//! The entities that the clients write to: their keys, and what is found in them.

use echomq_cluster::{Client, Command, Error, Repeat, Value};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Page, Pages, Token, Workload, Write};

/// So many entities there are, each with a tag, and so a slot, of its own.
pub(super) const ENTITIES: u16 = 48;

/// So many entities are read side by side.
const SIDE_BY_SIDE: usize = 16;

/// A key of each entity: what stands on the slots that have the load.
pub fn sample_keys() -> Vec<String> {
    (0..ENTITIES).map(|entity| format!("chaos:{{e{entity}}}")).collect()
}

/// The keys of one workload at one entity, for one stretch of the run: each stretch has keys of its own, so that what
/// the servers hold does not grow with the run.
pub(super) struct Place {
    workload: Workload,
    entity: u16,
    stretch: u64,
}

impl Place {
    pub(super) fn new(workload: Workload, entity: u16, stretch: u64) -> Place {
        Place { workload, entity, stretch }
    }

    fn key(&self, what: &str) -> String {
        let Place { workload, entity, stretch } = self;
        format!("chaos:{{e{entity}}}:{}:{what}:{stretch}", workload.name())
    }

    fn list_names(&self) -> &'static [&'static str] {
        match self.workload {
            Workload::Single | Workload::Replicated | Workload::Watch => &["list"],
            Workload::Transaction | Workload::Script => &["first", "second"],
        }
    }

    fn mark_names(&self) -> &'static [&'static str] {
        match self.workload {
            Workload::Single | Workload::Replicated | Workload::Watch => &[],
            Workload::Transaction | Workload::Script => &["head", "tail"],
        }
    }

    /// The one write of the workloads that have one.
    pub(super) fn single(&self, token: Token) -> Write {
        Write { command: "RPUSH", key: self.key("list"), value: token.to_string() }
    }

    /// The keys of the script, in its order.
    pub(super) fn deed_keys(&self) -> [String; 4] {
        ["head", "first", "second", "tail"].map(|what| self.key(what))
    }

    /// The same as the script does: marks at both ends, two lists between.
    pub(super) fn deed(&self, token: Token) -> Vec<Write> {
        let commands = ["SET", "RPUSH", "RPUSH", "SET"];
        let writes = commands.into_iter().zip(self.deed_keys());
        writes.map(|(command, key)| Write { command, key, value: token.to_string() }).collect()
    }

    pub(super) fn balance_keys(&self) -> [String; 2] {
        ["from", "to"].map(|what| self.key(what))
    }

    /// Moves the token's amount, given the balances before.
    pub(super) fn transfer(&self, token: Token, [from, to]: [i64; 2]) -> Vec<Write> {
        let balances = [from - token.amount(), to + token.amount()];
        let set = |(key, balance): (String, i64)| Write { command: "SET", key, value: balance.to_string() };
        let mut writes: Vec<Write> = self.balance_keys().into_iter().zip(balances).map(set).collect();
        writes.push(self.single(token));
        writes
    }

    /// Two keys that tell at any moment whether a write was applied by half; none where a write has one key.
    pub(super) fn pair(&self) -> Option<[String; 2]> {
        match self.workload {
            Workload::Single | Workload::Replicated => None,
            Workload::Watch => Some(self.balance_keys()),
            Workload::Transaction | Workload::Script => Some(["head", "tail"].map(|what| self.key(what))),
        }
    }

    /// Whether what was read from such a pair of keys belongs together.
    pub(super) fn is_whole(&self, pair: &[Option<String>; 2]) -> bool {
        let [one, two] = pair;
        match self.workload {
            Workload::Watch => {
                let number = |text: &Option<String>| text.as_deref().unwrap_or("0").parse::<i64>().ok();
                number(one).zip(number(two)).is_some_and(|(from, to)| from + to == 0)
            }
            _ => one == two,
        }
    }

    async fn read(&self, client: &Client) -> Result<Page, Error> {
        let mut page = Page::default();
        for name in self.list_names() {
            let command = Command::new("LRANGE").key(self.key(name)).arg(0).arg(-1);
            let value = client.call(command, Repeat::Idempotent).await?;
            let Value::Array(items) = &value else { return Err(Error::reply("LRANGE", &value)) };
            let list = items.iter().map(token).collect::<Option<Vec<Token>>>();
            page.lists.push(list.ok_or_else(|| Error::reply("LRANGE of tokens", &value))?);
        }
        for name in self.mark_names() {
            let value = client.call(Command::new("GET").key(self.key(name)), Repeat::Idempotent).await?;
            page.marks.push(token(&value));
        }
        if self.workload == Workload::Watch {
            let mut balances = [0; 2];
            for (balance, key) in balances.iter_mut().zip(self.balance_keys()) {
                let value = client.call(Command::new("GET").key(key), Repeat::Idempotent).await?;
                *balance = text(&value)
                    .map_or(Some(0), |text| text.parse().ok())
                    .ok_or_else(|| Error::reply("GET of a balance", &value))?;
            }
            page.balances = Some(balances);
        }
        Ok(page)
    }

    async fn remove(&self, client: &Client) -> Result<(), Error> {
        let names = [self.list_names(), self.mark_names()].concat();
        let balances = if self.workload == Workload::Watch { &["from", "to"][..] } else { &[] };
        for name in names.iter().chain(balances) {
            client.call(Command::new("UNLINK").key(self.key(name)), Repeat::Idempotent).await?;
        }
        Ok(())
    }
}

/// Reads all that a stretch has left.
pub(super) async fn read(client: &Client, stretch: u64) -> Result<Pages, Error> {
    let read = places(stretch).map(|place| async move {
        let page = place.read(client).await?;
        Ok::<_, Error>(((place.workload, place.entity), page))
    });
    read.buffer_unordered(SIDE_BY_SIDE).try_collect().await
}

/// Removes all that a stretch has left.
pub(super) async fn remove(client: &Client, stretch: u64) -> Result<(), Error> {
    let removed = places(stretch).map(|place| async move { place.remove(client).await });
    removed.buffer_unordered(SIDE_BY_SIDE).try_collect().await
}

fn places(stretch: u64) -> impl stream::Stream<Item = Place> {
    let all = Workload::ALL.into_iter();
    let all = all.flat_map(move |workload| (0..ENTITIES).map(move |entity| (workload, entity)));
    stream::iter(all.map(move |(workload, entity)| Place::new(workload, entity, stretch)))
}

fn token(value: &Value) -> Option<Token> {
    text(value)?.parse().ok()
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
