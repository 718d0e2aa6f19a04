//! Cases from the field, C017 and C018, and the commands whose keys move.

use echomq_keyspace::{Command, Slot, Use, keys_of};
use proptest::prelude::*;

/// The arguments of a line, parted by spaces; `''` is an empty one.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').map(|word| if word == "''" { "" } else { word }).collect()
}

#[track_caller]
fn assert_keys(line: &str, keys: &[&str]) {
    let args = words(line);
    let found = keys_of(&args).unwrap_or_else(|error| panic!("{line}: {error}"));
    assert_eq!(found.positions().map(|at| args[at]).collect::<Vec<_>>(), keys, "{line}");
}

#[track_caller]
fn refusal(line: &str) -> String {
    keys_of(&words(line)).expect_err(line).to_string()
}

#[test]
fn c017_the_keys_of_a_stream_read_are_the_first_half_after_streams() {
    assert_keys(
        "XREADGROUP GROUP g c1 COUNT 1 BLOCK 100 NOACK STREAMS emq:{orders}:events emq:{orders}:log > >",
        &["emq:{orders}:events", "emq:{orders}:log"],
    );
    assert_keys("XREAD STREAMS k 0", &["k"]);
    assert_keys("xread count 2 block 0 streams a b c 0 0 0", &["a", "b", "c"]);
}

#[test]
fn c017_an_option_word_as_the_name_of_a_group_or_a_consumer_is_no_option() {
    assert_keys("XREADGROUP GROUP streams STREAMS STREAMS k >", &["k"]);
    assert_keys("XREADGROUP GROUP count block STREAMS streams >", &["streams"]);
    assert_keys("XREAD STREAMS STREAMS 0", &["STREAMS"]);
}

#[test]
fn c017_streams_without_an_id_each_are_refused() {
    assert_eq!(
        refusal("XREAD STREAMS a b 0"),
        "\"XREAD\": 3 arguments follow argument 1; give as many keys as there are ids, first all keys, then all ids"
    );
    assert_eq!(refusal("XREAD COUNT 2 k 0"), "\"XREAD\": it has no STREAMS; write STREAMS before the keys");
}

#[test]
fn c018_a_script_is_routed_by_its_keys_whatever_its_hash_is() {
    for n in 0..100_u64 {
        let sha = format!("{:040x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let args = ["EVALSHA", &sha, "2", "emq:{orders}:pending", "emq:{orders}:active", "9"];
        let keys = keys_of(&args).unwrap();
        assert_eq!(keys.positions().collect::<Vec<_>>(), [3, 4]);
        assert!(keys.positions().all(|at| Slot::of(args[at].as_bytes()).get() == 105));
    }
    assert_keys("FCALL_RO claim 1 k x", &["k"]);
    assert_keys("EVAL return 0 a b", &[]);
}

#[test]
fn c018_a_number_of_keys_that_is_none_is_negative_or_too_large_is_refused() {
    let sha = "0c3f9b1ad5b6a3c1f0a7e2d94b8856f1e7c0aa52";
    let refused = |number: &str, keys: &str| refusal(&format!("EVALSHA {sha} {number}{keys}"));
    assert_eq!(
        refused("3", " {a}:1 {a}:2"),
        "\"EVALSHA\": argument 2 says 3 keys, but only 2 can follow it; give the number of keys that are there"
    );
    assert_eq!(
        refused("-1", " a"),
        "\"EVALSHA\": argument 2 is \"-1\", and a number of keys is not negative; write 0 when there are none"
    );
    for number in ["two", "", "1.0", "+1", "01", "-0", "1 ", "0x1", "{a}:1"] {
        let args = ["EVALSHA", sha, number, "a"];
        let text = keys_of(&args).unwrap_err().to_string();
        assert!(
            text.ends_with(&format!("argument 2 is \"{number}\", where the number of keys is to stand")),
            "{text}"
        );
    }
    assert!(refused("99999999999999999999999999", " a").contains("only 1 can follow"));
    assert_eq!(refusal("ZUNION 0 a"), "\"ZUNION\": argument 1 says 0 keys; name one or more");
    assert!(refusal("ZUNIONSTORE out 3 a b").contains("only 2 can follow"));
    assert!(refusal("MSETEX 2 k v").contains("only 1 can follow"));
    assert!(refusal("FCALL claim x").contains("\"x\", where the number"));
}

#[test]
fn options_that_name_a_key_to_write_are_read() {
    assert_keys("SORT ids BY w_* GET o_* STORE out", &["ids", "out"]);
    assert_keys("SORT ids LIMIT 0 STORE get store STORE one STORE two", &["ids", "two"]);
    assert_keys("SORT_RO ids BY STORE GET STORE", &["ids"]);
    assert_keys("GEORADIUS s 1 2 3 km STORE d", &["s", "d"]);
    assert_keys("GEORADIUS s 1 2 3 km STOREDIST d STORE e", &["s", "e"]);
    assert_keys("GEORADIUSBYMEMBER s STORE 1 km STORE STOREDIST", &["s", "STOREDIST"]);
    assert_keys("GEORADIUS_RO s 1 2 3 km", &["s"]);
    assert_keys("MIGRATE h 6379 k 0 100 COPY REPLACE AUTH keys", &["k"]);
    assert_keys("MIGRATE h 6379 '' 0 100 AUTH2 keys keys KEYS a b", &["a", "b"]);
    assert_eq!(
        refusal("MIGRATE h 6379 k 0 100 KEYS a b"),
        "\"MIGRATE\": argument 3 is the key \"k\", and KEYS names keys too; leave argument 3 empty"
    );
    assert!(
        refusal("MIGRATE h 6379 '' 0 100 KEYS")
            .ends_with("nothing follows argument 6; name the keys after it")
    );
}

#[test]
fn numbered_lists_and_subcommands_are_found_in_any_case() {
    assert_keys("LMPOP 2 a b LEFT", &["a", "b"]);
    assert_keys("blmpop 0.1 2 a b LEFT COUNT 10", &["a", "b"]);
    assert_keys("ZMPOP 1 a MIN", &["a"]);
    assert_keys("BZMPOP 0 1 a MAX", &["a"]);
    assert_keys("MSETEX 2 a 1 b 2 EX 10", &["a", "b"]);
    assert_keys("memory USAGE a SAMPLES 0", &["a"]);
    assert_keys("OBJECT encoding a", &["a"]);
    assert_keys("XGROUP CREATE s g $", &["s"]);
    assert_keys("CONFIG GET maxmemory", &[]);
    assert_keys("COMMAND", &[]);
}

#[test]
fn what_is_hashed_like_a_key_is_told_apart_from_keys() {
    let args = ["SSUBSCRIBE", "a", "b"];
    let keys = keys_of(&args).unwrap();
    assert_eq!(keys.positions().count(), 0);
    assert_eq!(
        keys.places().iter().map(|place| (place.at, place.used)).collect::<Vec<_>>(),
        [(1, Use::Hashed), (2, Use::Hashed)]
    );
    assert!(keys.command().is_pubsub() && !keys.command().is_keyless());
    assert!(keys_of(&["SUBSCRIBE", "a"]).unwrap().command().is_keyless());
}

#[test]
fn a_command_that_is_not_in_the_table_is_refused_and_says_so() {
    let text = refusal("FROB\n a");
    assert!(text.starts_with("unknown command \"FROB\\n\": its keys can not be told"), "{text}");
    let text = refusal("XGROUP FROB a");
    assert!(text.starts_with("unknown command \"XGROUP\" \"FROB\": "), "{text}");
    assert!(keys_of(&["OBJECT|ENCODING", "a"]).is_err_and(|error| !error.to_string().is_empty()));
    assert!(keys_of::<&str>(&[]).unwrap_err().to_string().contains("without a name"));
    assert!(!keys_of(&["GET"]).unwrap_err().is_unknown());
}

#[test]
fn a_command_with_too_few_or_too_many_arguments_is_refused() {
    assert_eq!(refusal("GET"), "GET takes 1 argument after its name, and was given 0");
    assert_eq!(refusal("GET a b"), "GET takes 1 argument after its name, and was given 2");
    assert_eq!(refusal("OBJECT"), "OBJECT takes at least 1 argument after its name, and was given 0");
    assert_eq!(
        refusal("OBJECT ENCODING"),
        "OBJECT ENCODING takes 2 arguments after its name, and was given 1"
    );
}

#[test]
fn flags_tell_where_a_command_may_go() {
    let command = |line: &str| Command::of(&words(line)).unwrap();
    assert!(command("SET a 1").is_write() && !command("SET a 1").is_readonly());
    assert!(command("GET a").is_readonly());
    assert!(command("BLPOP a 0").is_blocking() && command("WAIT 1 0").is_blocking());
    assert!(command("WATCH a").is_no_multi());
    assert!(command("SSUBSCRIBE a").is_no_script());
    assert!(command("SHUTDOWN").is_admin());
}

#[test]
fn the_table_is_sorted_and_names_each_command_once() {
    let names: Vec<_> = Command::all().iter().map(Command::name).collect();
    assert!(names.is_sorted_by(|a, b| a < b));
    assert!(names.len() > 390, "{}", names.len());
}

/// Words that mean something in some command, and numbers.
pub(crate) const WORDS: &[&str] = &[
    "STREAMS",
    "store",
    "STOREDIST",
    "KEYS",
    "GET",
    "BY",
    "LIMIT",
    "AUTH",
    "AUTH2",
    "",
    "0",
    "1",
    "2",
    "3",
    "-1",
];

fn an_argument() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..4)
    ]
}

proptest! {
    #[test]
    fn keys_stand_among_the_arguments_in_order_whatever_these_are(
        at in 0..Command::all().len(), mut args in prop::collection::vec(an_argument(), 0..12),
    ) {
        let name = Command::all()[at].name();
        args.splice(0..0, name.split('|').map(|word| word.as_bytes().to_vec()));
        if let Ok(keys) = keys_of(&args) {
            let places: Vec<_> = keys.places().iter().map(|place| place.at).collect();
            prop_assert!(places.is_sorted_by(|a, b| a < b));
            prop_assert!(places.iter().all(|at| (1..args.len()).contains(at)), "{:?} in {:?}", places, args);
        }
    }
}
