//! What constructors are made of, in no language yet: names, pieces of keys, and examples with their keys and slots.

use crate::contract::{Contract, Family, Field, Key, Pattern};
use echomq_keyspace::{Alphabet, NoTag, Segment, Slot, Template};

/// A whole contract.
pub(super) struct Plan<'a> {
    pub(super) families: Vec<FamilyPlan<'a>>,
    /// Keys that people compute wrong, and their slots.
    pub(super) slots: Vec<(&'static str, u16)>,
}

/// A family.
pub(super) struct FamilyPlan<'a> {
    pub(super) family: &'a Family,
    pub(super) keys: Vec<KeyPlan<'a>>,
    /// What is hashed, when some key has a tag.
    pub(super) tag: Option<Vec<Segment<'a>>>,
    pub(super) examples: Vec<Example>,
    pub(super) refusals: Vec<Refusal>,
}

/// A key.
pub(super) struct KeyPlan<'a> {
    pub(super) key: &'a Key,
    pub(super) pieces: Vec<Segment<'a>>,
    /// The fields but for the tag field, each once, in the order of the pattern.
    pub(super) fields: Vec<Field>,
    pub(super) legacy: Vec<Vec<Segment<'a>>>,
}

/// An entity that tests build.
pub(super) struct Example {
    pub(super) value: String,
    pub(super) slot: Option<u16>,
    /// Of each key of the family, in its order.
    pub(super) keys: Vec<ExampleKey>,
}

/// A key that tests build.
pub(super) struct ExampleKey {
    /// The values of the fields.
    pub(super) values: Vec<String>,
    /// The key, and whether it is on the slot of the entity.
    pub(super) key: String,
    pub(super) legacy: Vec<String>,
}

/// A tag value that tests see refused.
pub(super) enum Refusal {
    /// This text.
    Text(String),
    /// This letter, so many times.
    Repeated(String, usize),
}

/// Keys that published slot calculators get wrong.
const TRICKY: [&str; 8] =
    ["123456789", "foo{bar}", "foo{{bar}}zap", "foo{}{bar}", "foo{bar}{zap}", "{never:closed", "}{a}", ""];

impl<'a> Plan<'a> {
    pub(super) fn of(contract: &'a Contract) -> Plan<'a> {
        Plan {
            families: contract.families.iter().map(FamilyPlan::of).collect(),
            slots: TRICKY.iter().map(|key| (*key, Slot::of(key.as_bytes()).get())).collect(),
        }
    }
}

impl<'a> FamilyPlan<'a> {
    fn of(family: &'a Family) -> FamilyPlan<'a> {
        let keys: Vec<_> = family.keys.iter().filter_map(|key| KeyPlan::of(family, key)).collect();
        let tag = keys
            .iter()
            .find(|plan| !plan.key.alone)
            .and_then(|plan| tag_pieces(plan.key.pattern.template()?));
        let values = values(&family.tag);
        let mut plan =
            FamilyPlan { family, keys, tag, examples: Vec::new(), refusals: refusals(&family.tag) };
        plan.examples = values.into_iter().filter_map(|value| plan.example(value)).collect();
        plan
    }

    /// The keys that stand once and carry the tag: those that a test, or a deletion, can list.
    pub(super) fn listed(&self) -> impl Iterator<Item = &KeyPlan<'a>> {
        self.keys.iter().filter(|plan| plan.is_listed())
    }

    fn example(&self, value: String) -> Option<Example> {
        let keys =
            self.keys.iter().map(|plan| plan.example(self.family, &value)).collect::<Option<Vec<_>>>()?;
        let tagged = self.keys.iter().zip(&keys).find(|(plan, _)| !plan.key.alone);
        let slot = tagged.map(|(_, example)| Slot::of(example.key.as_bytes()).get());
        Some(Example { value, slot, keys })
    }
}

/// What is between the braces, as pieces; the pattern of a sound contract has a tag.
fn tag_pieces(template: Template<'_>) -> Option<Vec<Segment<'_>>> {
    let pieces = match template.tag() {
        Ok(tag) => {
            vec![Segment::Text(tag.before), Segment::Field(template.tag_field()), Segment::Text(tag.after)]
        }
        Err(NoTag::Constant(text)) => vec![Segment::Text(text)],
        Err(_) => return None,
    };
    Some(pieces.into_iter().filter(|piece| *piece != Segment::Text("")).collect())
}

impl<'a> KeyPlan<'a> {
    fn of(family: &'a Family, key: &'a Key) -> Option<KeyPlan<'a>> {
        let segments = |pattern: &'a Pattern| Some(pattern.template()?.segments().collect::<Vec<_>>());
        let mut fields: Vec<Field> = Vec::new();
        for name in key.pattern.template()?.fields().filter(|name| *name != family.tag.name) {
            if fields.iter().all(|field| field.name != name) {
                fields.push(family.field(name));
            }
        }
        let legacy = key.legacy.iter().filter_map(segments).collect();
        Some(KeyPlan { key, pieces: segments(&key.pattern)?, fields, legacy })
    }

    pub(super) fn is_listed(&self) -> bool {
        self.fields.is_empty() && !self.key.alone
    }

    fn example(&self, family: &Family, tag_value: &str) -> Option<ExampleKey> {
        let values: Vec<_> = self.fields.iter().map(|field| values(field).pop()).collect::<Option<_>>()?;
        let value_of = |name: &str| -> &[u8] {
            let own = self.fields.iter().position(|field| field.name == name).map(|at| &values[at]);
            if name == family.tag.name {
                tag_value.as_bytes()
            } else {
                own.map_or(b"", |value| value.as_bytes())
            }
        };
        let build = |pattern: &Pattern| String::from_utf8(pattern.template()?.build(value_of)).ok();
        let legacy = self.key.legacy.iter().map(build).collect::<Option<_>>()?;
        Some(ExampleKey { key: build(&self.key.pattern)?, legacy, values })
    }
}

/// The longest value that a test shows, in bytes.
const SHOWN_MAX: usize = 24;

/// Values of a field that read well; none when it has no letters for that.
fn values(field: &Field) -> Vec<String> {
    let letters = plain_letters(&field.alphabet);
    if letters.is_empty() || field.min_bytes.max(1) > 4 * SHOWN_MAX {
        return Vec::new();
    }
    let short = field.min_bytes.max(1);
    let mut lengths =
        vec![short, field.max_bytes.min(6).max(short), field.max_bytes.min(SHOWN_MAX).max(short)];
    lengths.dedup();
    // A stride that meets every letter, and begins elsewhere for each length.
    let stride = (letters.len() / 3).max(1) | 1;
    let letter = |len: usize, at: usize| letters[(len + at * stride) % letters.len()];
    lengths.into_iter().map(|len| (0..len).map(|at| char::from(letter(len, at))).collect()).collect()
}

/// The letters and digits of an alphabet; where it has none, what else of it can be seen.
fn plain_letters(alphabet: &Alphabet) -> Vec<u8> {
    let alphanumeric: Vec<_> = alphabet.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if alphanumeric.is_empty() {
        alphabet.bytes().filter(u8::is_ascii_graphic).collect()
    } else {
        alphanumeric
    }
}

fn refusals(tag: &Field) -> Vec<Refusal> {
    let mut refusals = vec![Refusal::Text(String::new())];
    let Some(letter) = plain_letters(&tag.alphabet).first().copied().map(char::from) else { return refusals };
    let repeated = |times| Refusal::Repeated(letter.to_string(), times);
    if tag.min_bytes > 1 {
        refusals.push(repeated(tag.min_bytes - 1));
    }
    refusals.push(repeated(tag.max_bytes + 1));
    let around = |outside: char| {
        let mut text: String = std::iter::repeat_n(letter, tag.min_bytes.max(1) - 1).collect();
        text.push(outside);
        Refusal::Text(text)
    };
    // Braces are in no alphabet here; a space, a line end and a letter with an accent may be.
    let outside = ['{', '}', ' ', '\n', 'é']
        .into_iter()
        .filter(|c| !c.to_string().bytes().all(|byte| tag.alphabet.contains(byte)));
    refusals.extend(outside.filter(|c| tag.min_bytes.max(1) - 1 + c.len_utf8() <= tag.max_bytes).map(around));
    refusals
}
