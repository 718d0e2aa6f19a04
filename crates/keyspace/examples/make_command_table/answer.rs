//! What a server answers to `COMMAND`, read strictly: whatever is not as documented ends with its text.

use redis::Value;

/// A command or a subcommand.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) arity: i8,
    pub(crate) flags: Vec<String>,
    pub(crate) specs: Vec<Spec>,
    pub(crate) has_subcommands: bool,
}

/// A key specification.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) flags: Vec<String>,
    pub(crate) begin: Begin,
    pub(crate) find: Find,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    Index(i64),
    Keyword(String, i64),
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Find {
    Range { last: i64, step: i64, limit: i64 },
    Number { at: i64, first: i64, step: i64 },
    Unknown,
}

impl Spec {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

impl Row {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

/// The commands, each followed by its subcommands.
pub(crate) fn rows(answer: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for row in list(answer) {
        add(row, &mut rows);
    }
    rows
}

fn add(row: &Value, rows: &mut Vec<Row>) {
    let [name, arity, flags, _, _, _, _, _, specs, subcommands] = list(row) else {
        panic!("a command is a list of ten: {row:?}")
    };
    let subcommands = list(subcommands);
    rows.push(Row {
        name: text(name),
        arity: i8::try_from(number(arity)).expect("an arity fits a byte"),
        flags: list(flags).iter().map(text).collect(),
        specs: list(specs).iter().map(spec).collect(),
        has_subcommands: !subcommands.is_empty(),
    });
    for subcommand in subcommands {
        add(subcommand, rows);
    }
}

fn spec(value: &Value) -> Spec {
    let (begin, find) = (field(value, "begin_search"), field(value, "find_keys"));
    let (begin_spec, find_spec) = (field(begin, "spec"), field(find, "spec"));
    Spec {
        flags: list(field(value, "flags")).iter().map(text).collect(),
        begin: match text(field(begin, "type")).as_str() {
            "index" => Begin::Index(number(field(begin_spec, "index"))),
            "keyword" => {
                Begin::Keyword(text(field(begin_spec, "keyword")), number(field(begin_spec, "startfrom")))
            }
            _ => Begin::Unknown,
        },
        find: match text(field(find, "type")).as_str() {
            "range" => Find::Range {
                last: number(field(find_spec, "lastkey")),
                step: number(field(find_spec, "keystep")),
                limit: number(field(find_spec, "limit")),
            },
            "keynum" => Find::Number {
                at: number(field(find_spec, "keynumidx")),
                first: number(field(find_spec, "firstkey")),
                step: number(field(find_spec, "keystep")),
            },
            _ => Find::Unknown,
        },
    }
}

/// A map comes as a list of names and values.
fn field<'a>(map: &'a Value, name: &str) -> &'a Value {
    let mut pairs = list(map).chunks_exact(2);
    let pair = pairs.find(|pair| text(&pair[0]) == name).unwrap_or_else(|| panic!("no {name} in {map:?}"));
    &pair[1]
}

pub(crate) fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) | Value::Set(values) => values,
        _ => panic!("not a list: {value:?}"),
    }
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::SimpleString(text) => text.clone(),
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).expect("UTF-8"),
        _ => panic!("not a text: {value:?}"),
    }
}

pub(crate) fn number(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        _ => panic!("not a number: {value:?}"),
    }
}
