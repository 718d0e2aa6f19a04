//! What the judge says about keys that people write.

use echomq_keyspace::{Basis, Verdict, hash_tag, judge};
use proptest::prelude::*;

fn codes(keys: &[&str]) -> Vec<&'static str> {
    judge(keys).findings.iter().map(|finding| finding.code()).collect()
}

fn renamed(keys: &[&str]) -> Vec<String> {
    let renaming = judge(keys).renaming.expect("keys on several slots");
    renaming.names.into_iter().map(|name| String::from_utf8(name.to).unwrap()).collect()
}

#[test]
fn each_finding_is_made_by_its_keys_and_not_by_those_next_to_them() {
    for (keys, expected) in [
        (&["{a}:1", "{a}:2"][..], &[][..]),
        (&["user:{123}:profile", "user:{123}:cart"], &[]),
        (&["emq:{orders}:job:1", "emq:{orders}:job:2"], &[]),
        (&["{orders}:pending", "{orders}:active", "{orders}:job:1"], &[]),
        (&["a:{}:b"], &["empty-tag"]),
        (&["a:{b"], &["never-closed"]),
        (&[""], &["empty-key"]),
        (&["{a}:{b}"], &["second-tag"]),
        (&["user:{123}:profile", "user:123:{cart}"], &["wrong-place"]),
        (&["{user}:1:name", "{user}:2:name"], &["constant-tag"]),
        (&["{app}:{a}", "{app}:{b}"], &["second-tag", "second-tag", "constant-tag"]),
        (&["user:{123}", "order:{123}"], &["same-spelling"]),
        (&["user:{123}", "user:123"], &["equal-up-to-braces"]),
        (&["user:123", "user:123"], &[]),
    ] {
        assert_eq!(codes(keys), expected, "{keys:?}");
    }
}

#[test]
fn a_renaming_tags_what_the_keys_share() {
    for (keys, expected) in [
        (["user:{123}:profile", "user:123:{profile}"], ["user:{123}:profile", "user:{123}:profile"]),
        (["user:123:{profile}", "user:{123}:profile"], ["user:{123}:profile", "user:{123}:profile"]),
        (["user:alice:{a}", "user:{alice}:a"], ["user:{alice}:a", "user:{alice}:a"]),
        (["bull:orders:wait", "bull:orders:active"], ["bull:{orders}:wait", "bull:{orders}:active"]),
        (["emq:eu:orders:a", "emq:eu:orders:b"], ["emq:{eu:orders}:a", "emq:{eu:orders}:b"]),
        (["user:123:cart:1", "user:123:cart:2"], ["user:{123}:cart:1", "user:{123}:cart:2"]),
        (["bull:orders:wait", "emq:orders:pending"], ["bull:{orders}:wait", "emq:{orders}:pending"]),
        (["profile:123", "cart:items:123"], ["profile:{123}", "cart:items:{123}"]),
        (["{user:1}:profile", "user:1:cart"], ["{user:1}:profile", "{user:1}:cart"]),
        (["user/7/profile", "user/7/cart"], ["user/{7}/profile", "user/{7}/cart"]),
        (["orders", "orders:pending"], ["{orders}", "{orders}:pending"]),
        (["a:{}:1", "b:{}:1"], ["a::{1}", "b::{1}"]),
    ] {
        assert_eq!(renamed(&keys), expected, "{keys:?}");
        assert_eq!(judge(&keys).renaming.unwrap().basis, Basis::Shared, "{keys:?}");
    }
}

#[test]
fn keys_of_two_entities_are_told_apart_and_get_a_tag_only_with_a_warning() {
    for (keys, expected) in [
        (["user:1:cart", "user:2:cart"], ["{user:1:cart}", "{user:1:cart}:user:2:cart"]),
        (
            ["user:ann:cart", "user:bob:cart:items"],
            ["{user:ann:cart}", "{user:ann:cart}:user:bob:cart:items"],
        ),
        (["user:{1}:cart", "user:{2}:cart"], ["user:{1}:cart", "{1}:user:2:cart"]),
        (["a", "b"], ["{a}", "{a}:b"]),
    ] {
        assert_eq!(renamed(&keys), expected, "{keys:?}");
        let verdict = judge(&keys);
        assert_eq!(verdict.renaming.as_ref().unwrap().basis, Basis::Borrowed, "{keys:?}");
        assert!(verdict.to_string().contains("they look like different entities"), "{verdict}");
    }
}

#[test]
fn the_report_reads_as_a_report() {
    assert_eq!(
        judge(&["user:{123}:profile", "user:123:{profile}"]).to_string(),
        "2 keys on 2 slots: a cluster refuses a command, transaction or script that uses them together\n\
         (CROSSSLOT), even where one node has all these slots.\n\
         \n\
         \u{20} slot  5970  user:{123}:profile  tag \"123\"\n\
         \u{20} slot 16237  user:123:{profile}  tag \"profile\"\n\
         \n\
         - user:123:{profile}: the tag is at the wrong place. The braces are around \"profile\", but what the keys \
         share is \"123\".\n\
         - user:{123}:profile and user:123:{profile} are equal but for the braces, and are different keys: who reads \
         one does not see what was written to the other. Keep one spelling.\n\
         \n\
         Names that meet on slot 5970, with the tag \"123\":\n\
         \u{20} user:{123}:profile  stays\n\
         \u{20} user:123:{profile}  becomes  user:{123}:profile"
    );
    assert_eq!(judge(&["{a}:1"]).to_string(), "1 key, on slot 15495.\n\n  slot 15495  {a}:1  tag \"a\"");
    assert_eq!(judge::<&str>(&[]).to_string(), "No keys.");
}

fn assert_sound(verdict: &Verdict<'_>, keys: &[Vec<u8>]) -> Result<(), TestCaseError> {
    prop_assert_eq!(verdict.slot().is_some(), verdict.groups().len() == 1);
    for finding in &verdict.findings {
        prop_assert!(
            finding.positions().is_sorted() && finding.positions().iter().all(|&at| at < keys.len())
        );
    }
    if let Some(renaming) = &verdict.renaming {
        prop_assert_eq!(verdict.slot(), None);
        for (name, key) in renaming.names.iter().zip(keys) {
            prop_assert_eq!(name.from, key);
            prop_assert_eq!(hash_tag(&name.to), &renaming.tag);
        }
    } else if verdict.groups().len() > 1 {
        let nothing_to_tag = keys.iter().any(|key| key.iter().all(|byte| b"{}".contains(byte)));
        prop_assert!(nothing_to_tag);
    }
    let text = verdict.to_string();
    prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.ends_with('\n'));
    Ok(())
}

proptest! {
    #[test]
    fn a_renaming_brings_any_keys_together(keys in prop::collection::vec("[ab1{}:]{0,8}", 0..6)) {
        let keys: Vec<_> = keys.into_iter().map(String::into_bytes).collect();
        assert_sound(&judge(&keys), &keys)?;
    }

    #[test]
    fn any_bytes_can_be_judged(keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6)) {
        assert_sound(&judge(&keys), &keys)?;
    }
}
