//! Whether each key of a family carries the tag, and the same one.

use super::{at_key, finding};
use crate::contract::{Family, Key};
use crate::finding::{Code, Finding};
use echomq_keyspace::{Escaped, NoTag, Segment, Slot, TagText, Template};

pub(super) fn check(family: &Family, findings: &mut Vec<Finding>) {
    let mut first: Option<(&Key, String)> = None;
    for key in &family.keys {
        let at = || at_key(family, key, key.pattern.line);
        let Some(template) = key.pattern.template() else {
            let text = "the pattern is blank: the empty key is on slot 0".to_owned();
            let remedy =
                format!("write the key, such as {}:{{{}}}:{}", family.name, family.tag.name, key.name);
            findings.push(finding(Code::BlankKey, at(), text, remedy));
            continue;
        };
        let mut add = |(code, text, remedy)| findings.push(finding(code, at(), text, remedy));
        white_space(&template).into_iter().for_each(&mut add);
        if key.alone {
            with_braces(&template).into_iter().for_each(&mut add);
            continue;
        }
        before_tag(family, &template).into_iter().for_each(&mut add);
        later_braces(&template).into_iter().for_each(&mut add);
        let tag = template.tag();
        if let Err(fault) = tag {
            add(no_tag(family, &template, fault));
        }
        let tag = match tag {
            Ok(tag) => shown(tag, &family.tag.name),
            Err(NoTag::Constant(text)) => shown_constant(text),
            Err(_) => continue,
        };
        match &first {
            Some((other, others)) if *others != tag => add(mixed(&tag, other, others)),
            Some(_) => {}
            None => first = Some((key, tag)),
        }
    }
}

type Said = (Code, String, String);

fn no_tag(family: &Family, template: &Template<'_>, fault: NoTag<'_>) -> Said {
    let tag = &family.tag.name;
    let around = format!("put {{{tag}}} into the pattern");
    match fault {
        NoTag::NoBrace => (
            Code::NoTag,
            "it has no hash tag: the whole key is hashed, so the keys of one entity are on different slots"
                .to_owned(),
            format!("{around}, or write alone = true where it is to have a slot of its own"),
        ),
        NoTag::NeverClosed => {
            (Code::NeverClosed, "the brace is never closed: the whole key is hashed".to_owned(), around)
        }
        NoTag::Empty => (Code::EmptyTag, "the tag is empty: the whole key is hashed".to_owned(), around),
        NoTag::Constant(text) => (
            Code::ConstantTag,
            format!(
                "co-located, but every entity shares slot {}: the braces hold the fixed text {:?}",
                Slot::of(text.as_bytes()),
                Escaped(text.as_bytes())
            ),
            format!("put the braces around the field: {}", Escaped(moved_braces(template, tag).as_bytes())),
        ),
        NoTag::OtherField(name) => (
            Code::WrongField,
            format!("the braces hold `{name}`, so the keys of one {} are on different slots", family.name),
            format!("put the braces around `{tag}` alone, with fixed text at most"),
        ),
        _ => (Code::NoTag, "it has no tag that the slot rule finds".to_owned(), around),
    }
}

/// The pattern with its braces around the tag field.
fn moved_braces(template: &Template<'_>, tag: &str) -> String {
    let plain = |text: &str| text.replace(['{', '}'], "");
    let pieces = template.segments().map(|segment| match segment {
        Segment::Text(text) => plain(text),
        Segment::Field(name) if name == tag => format!("{{{name}}}"),
        Segment::Field(name) => format!("<{name}>"),
    });
    let moved: String = pieces.collect();
    if template.fields().any(|name| name == tag) { moved } else { format!("{moved}:{{{tag}}}") }
}

fn mixed(tag: &str, other: &Key, others: &str) -> Said {
    (
        Code::MixedTags,
        format!("its tag is {tag}, and that of `{}` is {others}: they are on different slots", other.name),
        "write the same between the braces of all keys of a family".to_owned(),
    )
}

/// A tag as a pattern shows it: `{<order>}`.
pub(super) fn shown(tag: TagText<'_>, field: &str) -> String {
    format!("{{{}<{field}>{}}}", Escaped(tag.before.as_bytes()), Escaped(tag.after.as_bytes()))
}

/// A tag that is fixed text.
pub(super) fn shown_constant(text: &str) -> String {
    format!("{{{}}}", Escaped(text.as_bytes()))
}

/// Whether no value changes what is between the first braces of a pattern that has a tag.
pub(super) fn is_firm(family: &Family, template: &Template<'_>) -> bool {
    let value_is_firm = !family.tag.alphabet.has_brace() && family.tag.min_bytes > 0;
    let has_value = template.tag().is_ok();
    before_tag(family, template).is_none() && (value_is_firm || !has_value)
}

/// A field before the tag whose value could begin it.
fn before_tag(family: &Family, template: &Template<'_>) -> Option<Said> {
    let before = template.segments().take_while(|segment| match segment {
        Segment::Text(text) => !text.contains('{'),
        Segment::Field(_) => true,
    });
    let mut fields = before.filter_map(|segment| match segment {
        Segment::Field(name) => Some(name),
        Segment::Text(_) => None,
    });
    // Without a tag after it there is nothing to take over.
    let has_tag = template.as_str().contains('{');
    let name = fields.find(|name| has_tag && family.field(name).alphabet.has_brace())?;
    Some((
        Code::BraceBeforeTag,
        format!("`{name}` stands before the tag, and a brace in its value would become the tag"),
        format!(
            "move <{name}> behind the tag, or declare an alphabet without braces under [family.{}.fields]",
            family.name
        ),
    ))
}

fn later_braces(template: &Template<'_>) -> Option<Said> {
    template.has_later_brace().then(|| {
        (
            Code::SecondTag,
            "it has two tags, and only the first braces count".to_owned(),
            "leave one pair of braces, around the tag field".to_owned(),
        )
    })
}

fn with_braces(template: &Template<'_>) -> Option<Said> {
    template.as_str().contains('{').then(|| {
        (
            Code::AloneWithTag,
            "it is to be alone, but has braces, and what they hold decides its slot".to_owned(),
            "remove the braces, or alone = true".to_owned(),
        )
    })
}

fn white_space(template: &Template<'_>) -> Option<Said> {
    let found = template.segments().find_map(|segment| match segment {
        Segment::Text(text) => text.chars().find(|c| c.is_whitespace() || c.is_control()),
        Segment::Field(_) => None,
    })?;
    let text = format!("it has {found:?}, which a list of keys does not show");
    Some((Code::WhiteSpace, text, "remove it, or use another separator".to_owned()))
}
