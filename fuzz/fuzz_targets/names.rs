//! Any bytes as a name, a prefix, a tag or an id: what is taken is kept as given and keeps its promises, what is refused is
//! quoted in one printable line.

#![no_main]

use echomq_keyspace::{JobId, Kind, Part, PartKeys, Prefix, QueueName, Slot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match QueueName::parse(bytes) {
        Ok(name) => {
            assert_eq!(name.as_str().as_bytes(), bytes);
            let part = Part::first(&name);
            assert_eq!(Part::from_tag(part.tag()), Ok(part.clone()));
            let keys = PartKeys::new(&Prefix::none(), &part);
            assert!(
                [keys.pending(), keys.meta(), keys.wake()].iter().all(|key| Slot::of(key) == Slot::of(bytes))
            );
        }
        Err(error) => assert_one_line(&error.to_string()),
    }
    match Prefix::parse(bytes) {
        Ok(prefix) => assert_eq!(prefix.as_str().as_bytes(), bytes),
        Err(error) => assert_one_line(&error.to_string()),
    }
    if let Ok(tag) = str::from_utf8(bytes) {
        match Part::from_tag(tag) {
            Ok(part) => {
                assert_eq!((part.tag(), part.slot()), (tag, Slot::of(bytes)));
                assert!(tag.len() <= Part::TAG_MAX_BYTES);
            }
            Err(error) => assert_one_line(&error.to_string()),
        }
    }
    match JobId::parse(bytes) {
        Ok(id) => {
            assert_eq!(id.as_bytes(), bytes);
            assert_one_line(&id.to_string());
            if let (Some(kind), Some(serial)) = (id.kind(), id.serial()) {
                assert_eq!(JobId::from_serial(kind, serial), id);
            }
        }
        Err(error) => assert_one_line(&error.to_string()),
    }
    if let Err(error) = Kind::parse(bytes) {
        assert_one_line(&error.to_string());
    }
});

fn assert_one_line(text: &str) {
    assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}");
}
