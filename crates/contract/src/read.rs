//! From the text of a `keyspace.toml` to a [`Contract`].

mod settings;

use crate::contract::{Contract, Family, Field, Key, Mention, Operation, OperationKind, Pattern};
use crate::error::ContractError;
use echomq_keyspace::{Alphabet, Escaped, KeyType, Template};
use settings::{Setting, Settings, Source};

/// The only version of the format.
const VERSION: u64 = 1;

/// The most primaries that a cluster is taken to have when the file does not say.
const SHARDS: u32 = 16;

/// What names are made of.
const NAMES: &str = "use words of a-z and 0-9 that begin with a letter, joined by _";

type Read<T> = Result<T, ContractError>;

pub(crate) fn contract(text: &str) -> Read<Contract> {
    let source = Source::new(text);
    let file = source.settings()?;
    file.only(&["contract", "cluster", "family", "operation"])?;
    let version = file.need("contract", "write contract = 1 first")?;
    if version.number()? != VERSION {
        return Err(version.refuse("this version of the format is not known", "write contract = 1"));
    }
    let shards = match file.get("cluster") {
        Some(cluster) => shards(&cluster.settings()?)?,
        None => SHARDS,
    };
    let families = file.need("family", "declare a family, such as [family.order]")?.settings()?;
    let operations = file.get("operation").map(|operations| operations.settings()).transpose()?;
    Ok(Contract {
        shards,
        families: families.all().map(|setting| family(&setting)).collect::<Read<_>>()?,
        operations: match operations {
            Some(operations) => operations.all().map(|setting| operation(&setting)).collect::<Read<_>>()?,
            None => Vec::new(),
        },
    })
}

fn shards(cluster: &Settings<'_>) -> Read<u32> {
    cluster.only(&["shards"])?;
    let shards =
        cluster.need("shards", "write how many primaries there will be at most, such as shards = 16")?;
    match u32::try_from(shards.number()?) {
        Ok(number @ 1..=16384) => Ok(number),
        _ => Err(shards.refuse("a cluster has 1 to 16384 primaries", "write how many there will be at most")),
    }
}

fn family(setting: &Setting<'_>) -> Read<Family> {
    let name = setting.name()?;
    let family = setting.settings()?;
    family.only(&["about", "tag", "fields", "keys"])?;
    let tag = family.need(
        "tag",
        "write tag = { field = \"order\", alphabet = \"A-Z0-9\", length = [1, 16], cardinality = 1000000 }",
    )?;
    let (tag, cardinality) = tag_field(tag)?;
    let fields = match family.get("fields") {
        Some(fields) => fields.settings()?.all().map(|setting| field(&setting)).collect::<Read<Vec<_>>>()?,
        None => Vec::new(),
    };
    if let Some(twice) = fields.iter().find(|field| field.name == tag.name) {
        return Err(setting.refuse_at(
            twice.line,
            &format!("field `{}` is the tag field, and is declared with it", twice.name),
            "remove it here",
        ));
    }
    let keys = family.need("keys", "declare its keys under [family.NAME.keys]")?.settings()?;
    let keys = keys.all().map(|setting| key(&setting, &tag.name)).collect::<Read<Vec<_>>>()?;
    if keys.is_empty() {
        return Err(setting.refuse("it has no keys", "declare one, or remove the family"));
    }
    let about = family.get("about").map(|about| about.text()).transpose()?;
    Ok(Family { name, about, line: setting.line(), tag, cardinality, fields, keys })
}

fn tag_field(setting: &Setting<'_>) -> Read<(Field, u64)> {
    let tag = setting.settings()?;
    tag.only(&["field", "alphabet", "length", "cardinality"])?;
    let name =
        tag.need("field", "name the field that tells the entities apart, such as field = \"order\"")?;
    let cardinality = tag.need(
        "cardinality",
        "write how many different values there will be, such as cardinality = 1000000",
    )?;
    let text = name.text()?;
    if !Template::is_field_name(&text) {
        return Err(name.refuse("this is no field name", NAMES));
    }
    let (alphabet, length) = (tag.need("alphabet", ALPHABET)?, tag.need("length", LENGTH)?);
    let field = bounds(text, setting.line(), alphabet, length)?;
    Ok((field, cardinality.number()?))
}

const ALPHABET: &str = "write which bytes a value may have, such as alphabet = \"A-Za-z0-9_-\"";
const LENGTH: &str = "write the shortest and the longest value in bytes, such as length = [1, 32]";

fn field(setting: &Setting<'_>) -> Read<Field> {
    let name = setting.name()?;
    let field = setting.settings()?;
    field.only(&["alphabet", "length"])?;
    bounds(name, setting.line(), field.need("alphabet", ALPHABET)?, field.need("length", LENGTH)?)
}

fn bounds(name: String, line: usize, alphabet: &Setting<'_>, length: &Setting<'_>) -> Read<Field> {
    let notation = alphabet.text()?;
    let alphabet = Alphabet::parse(&notation).map_err(|error| {
        let (text, remedy) = split_remedy(&error.to_string());
        alphabet.refuse(&text, &remedy)
    })?;
    let bounds = length.list()?.iter().map(|bound| bound.number()).collect::<Read<Vec<_>>>()?;
    let [min_bytes, max_bytes] = match bounds.as_slice() {
        [exact] => [*exact, *exact],
        [min, max] => [*min, *max],
        _ => return Err(length.refuse("a length has two bounds", LENGTH)),
    }
    .map(|bound| usize::try_from(bound).unwrap_or(usize::MAX));
    if min_bytes > max_bytes {
        return Err(length.refuse("the shortest value is longer than the longest", LENGTH));
    }
    if max_bytes > Field::MAX_BYTES || max_bytes == 0 {
        let text = format!("the longest value has {max_bytes} bytes");
        return Err(length.refuse(&text, &format!("write 1 to {}", Field::MAX_BYTES)));
    }
    Ok(Field { name, line, alphabet, min_bytes, max_bytes })
}

fn key(setting: &Setting<'_>, tag_field: &str) -> Read<Key> {
    let name = setting.name()?;
    if name.ends_with("_legacy") {
        let remedy = "write the names that a key had before under its `legacy`";
        return Err(
            setting.refuse("constructors have a method of this name for the names from before", remedy)
        );
    }
    let key = setting.settings()?;
    key.only(&["about", "type", "pattern", "alone", "legacy"])?;
    let types = KeyType::ALL.map(KeyType::word).join(", ");
    let key_type = key.need("type", &format!("write what it holds: {types}"))?;
    let word = key_type.text()?;
    let key_type = KeyType::from_word(&word).ok_or_else(|| {
        key_type.refuse(
            &format!("`{}` is no type of a key", Escaped(word.as_bytes())),
            &format!("use one of {types}"),
        )
    })?;
    let of_pattern = |setting: &Setting<'_>| pattern(setting, tag_field);
    let legacy = match key.get("legacy") {
        Some(legacy) => legacy.list()?.iter().map(of_pattern).collect::<Read<_>>()?,
        None => Vec::new(),
    };
    Ok(Key {
        name,
        about: key.get("about").map(|about| about.text()).transpose()?,
        key_type,
        pattern: of_pattern(
            key.need("pattern", "write how it is spelt, such as pattern = \"order:{order}:items\"")?,
        )?,
        alone: key.get("alone").map(|alone| alone.boolean()).transpose()?.unwrap_or(false),
        legacy,
    })
}

/// A blank pattern is a matter for the check, which says more of it.
fn pattern(setting: &Setting<'_>, tag_field: &str) -> Read<Pattern> {
    let text = setting.text()?;
    match Template::parse(&text, tag_field) {
        Err(error) if !text.is_empty() => {
            let (text, remedy) = split_remedy(&error.to_string());
            Err(setting.refuse(&text, &remedy))
        }
        _ => Ok(Pattern::new(text, setting.line(), tag_field)),
    }
}

/// The texts of the key space end in what to do.
fn split_remedy(text: &str) -> (String, String) {
    let (text, remedy) = text.split_once("; ").unwrap_or((text, "mend it"));
    (text.to_owned(), remedy.to_owned())
}

fn operation(setting: &Setting<'_>) -> Read<Operation> {
    let name = setting.name()?;
    let operation = setting.settings()?;
    operation.only(&["about", "kind", "keys"])?;
    let kinds = OperationKind::ALL.map(OperationKind::word).join(", ");
    let kind = operation.need("kind", &format!("write how it touches the keys: {kinds}"))?;
    let word = kind.text()?;
    let found = OperationKind::ALL.into_iter().find(|kind| kind.word() == word);
    let kind = found.ok_or_else(|| {
        kind.refuse(
            &format!("`{}` is no kind of operation", Escaped(word.as_bytes())),
            &format!("use one of {kinds}"),
        )
    })?;
    let keys = operation
        .need("keys", "write which keys it touches, such as keys = [\"order.head\", \"order.items\"]")?;
    let mention = |setting: &Setting<'_>| Ok(Mention { text: setting.text()?, line: setting.line() });
    Ok(Operation {
        name,
        about: operation.get("about").map(|about| about.text()).transpose()?,
        line: setting.line(),
        kind,
        keys: keys.list()?.iter().map(mention).collect::<Read<_>>()?,
    })
}
