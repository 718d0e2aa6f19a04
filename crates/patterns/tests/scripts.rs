//! Each script says what it takes, and looks before it acts.

use std::path::Path;

#[test]
fn each_script_names_its_keys_and_words_and_writes_only_where_it_acts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scripts");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5);
    for file in files {
        let (name, text) = (file.display(), std::fs::read_to_string(&file).unwrap());
        assert!(text.lines().count() <= 60, "{name} is too long");
        let first = text.lines().next().unwrap_or_default();
        assert!(
            ["#!lua", "#!lua flags=allow-oom", "#!lua flags=no-writes"].contains(&first),
            "{name}: {first:?}"
        );
        let (header, code): (Vec<&str>, Vec<&str>) =
            text.lines().skip(1).partition(|line| line.starts_with("-- "));
        for word in ["-- Returns ", "-- Cost ", "-- KEYS[1] "] {
            assert!(header.iter().any(|line| line.starts_with(word)), "{name} has no line {word:?}");
        }
        let code = code.join("\n");
        for table in ["KEYS", "ARGV"] {
            for number in 1..=9 {
                let said = header.iter().any(|line| line.starts_with(&format!("-- {table}[{number}")));
                let looped = table == "KEYS" && code.contains("KEYS[i]");
                let used = code.contains(&format!("{table}[{number}]"))
                    || looped
                    || code.contains(&format!("unpack({table}, {number})"));
                assert!(
                    !code.contains(&format!("{table}[{number}]")) || said,
                    "{name} does not say what {table}[{number}] is"
                );
                assert!(
                    !said
                        || used
                        || header.iter().any(|line| line.starts_with(&format!("-- {table}[{number}.."))),
                    "{name} takes {table}[{number}] in vain"
                );
            }
        }
        let look = text.split("-- act\n").next().unwrap_or_default();
        let writes =
            ["SET", "INCR", "DECR", "DEL", "PUSH", "ADD", "REM", "EXPIRE", "UNLINK", "ARGV[1], KEYS"];
        for line in look.lines().filter(|line| line.contains("redis.call(")) {
            let calls = line.split("redis.call(").skip(1).filter_map(|rest| rest.split(',').next());
            for call in calls {
                assert!(
                    !writes.iter().any(|write| call.contains(write)),
                    "{name} writes before it acts: {line:?}"
                );
            }
        }
        assert!(first.contains("no-writes") || text.contains("-- act\n"), "{name} has no part that acts");
    }
}
