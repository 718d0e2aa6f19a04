//! Whether a tag has enough values to fill a cluster, and none that breaks it.

use super::{at_family, finding};
use crate::contract::{Contract, Family};
use crate::finding::{Code, Finding};

pub(super) fn check(contract: &Contract, family: &Family, findings: &mut Vec<Finding>) {
    let tag = &family.tag;
    let at = || at_family(family, tag.line, "tag");
    if tag.alphabet.has_brace() {
        let text = format!("the values of `{}` may have a brace, which changes what is hashed", tag.name);
        findings.push(finding(Code::BraceInTag, at(), text, "leave { and } out of the alphabet"));
    }
    if tag.min_bytes == 0 {
        let text = format!(
            "a value of `{}` may be empty, and an empty tag is no tag: the whole key is hashed",
            tag.name
        );
        findings.push(finding(Code::MayBeEmpty, at(), text, "begin the length at 1"));
    }
    let possible = tag.values();
    if family.cardinality > possible {
        let text = format!(
            "{} values are expected, but there can be only {possible}: {} of {}",
            family.cardinality,
            tag.length(),
            tag.alphabet
        );
        let remedy = "allow longer values or more bytes, or correct the cardinality";
        findings.push(finding(Code::ImpossibleCardinality, at(), text, remedy));
    }
    findings.extend(
        few(contract.shards, family, family.cardinality.min(possible))
            .map(|(code, text, remedy)| finding(code, at(), text, remedy)),
    );
    for field in family.fields.iter().filter(|field| !is_used(family, &field.name)) {
        let place = at_family(family, field.line, &format!("fields.{}", field.name));
        let text = format!("`{}` stands in no pattern", field.name);
        findings.push(finding(Code::UnusedField, place, text, "remove it, or write it into a pattern"));
    }
}

fn is_used(family: &Family, name: &str) -> bool {
    let mut patterns =
        family.keys.iter().flat_map(|key| key.patterns()).filter_map(|pattern| pattern.template());
    patterns.any(|template| template.fields().any(|field| field == name))
}

/// What is said of a tag with few values.
fn few(shards: u32, family: &Family, values: u64) -> Option<(Code, String, String)> {
    let field = &family.tag.name;
    if values < 2 {
        let text =
            format!("`{field}` has one value: co-located, but every key of the family shares one slot");
        let remedy = "take what tells the entities apart for the tag".to_owned();
        return Some((Code::ConstantTag, text, remedy));
    }
    (values < enough(shards)).then(|| {
        let share = fullest(shards, values);
        let text = format!(
            "`{field}` has {values} values: of {shards} shards the fullest gets up to {share:.1} times its share of the keys"
        );
        let remedy = format!(
            "take a finer field for the tag, of {} values or more, or set `shards` under [cluster] to what there will be",
            enough(shards)
        );
        (Code::LowCardinality, text, remedy)
    })
}

/// How many values keep the fullest shard under twice its share.
fn enough(shards: u32) -> u64 {
    let shards = f64::from(shards);
    (2.0 * shards * shards.ln()).ceil() as u64
}

/// How many times its share the fullest of so many shards gets up to, when the values fall at random: the usual bound of
/// balls in bins, `1 + sqrt(2 n ln n / m)`.
fn fullest(shards: u32, values: u64) -> f64 {
    let shards = f64::from(shards);
    (1.0 + (2.0 * shards * shards.ln() / values as f64).sqrt()).min(shards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use echomq_keyspace::Slot;

    /// The share of the fullest of equal shards, for tags that are random numbers; the mean of several sets.
    fn measured(shards: u32, values: u64) -> f64 {
        const SETS: u64 = 200;
        let share = |set: u64| {
            let mut counts = vec![0_u32; shards as usize];
            for value in 0..values {
                let number = (set * 1_000_003 + value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let slot = u32::from(Slot::of(format!("{number:016x}").as_bytes()).get());
                counts[(slot * shards / u32::from(Slot::COUNT)) as usize] += 1;
            }
            f64::from(counts.into_iter().max().unwrap_or(0)) * f64::from(shards) / values as f64
        };
        (0..SETS).map(share).sum::<f64>() / SETS as f64
    }

    #[test]
    fn the_bound_holds_for_real_slots_and_is_no_wild_guess() {
        for shards in [3, 6, 16, 64] {
            let (bound, real) = (fullest(shards, enough(shards)), measured(shards, enough(shards)));
            assert!(
                bound < 2.01 && real < bound && real > 1.0 + (bound - 1.0) / 2.0,
                "{shards}: {real} of {bound}"
            );
            let few = u64::from(shards) * 2;
            assert!(measured(shards, few) < fullest(shards, few) * 1.1, "{shards}");
        }
        assert_eq!((enough(1), enough(16)), (0, 89));
    }
}
