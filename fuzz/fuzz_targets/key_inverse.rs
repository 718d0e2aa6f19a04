//! Any bytes as a key, and any pieces as the parts of one: what is read is built again, what is built is read back.

#![no_main]

use echomq_keyspace::{JobId, KeyName, Part, PartKeys, Prefix, Slot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match KeyName::parse(&Prefix::none(), bytes) {
        Ok(name) => {
            assert_eq!(name.build(&Prefix::none()), bytes);
            assert_eq!(name.part().slot(), Slot::of(bytes));
            assert_eq!(name.kind.has_id(), name.id.is_some());
        }
        Err(error) => assert_eq!(error.key(), bytes),
    }
    let mut pieces = bytes.splitn(3, |byte| *byte == 0);
    if let (Some(prefix), Some(tag), Some(id)) = (pieces.next(), pieces.next(), pieces.next()) {
        build_and_read_back(prefix, tag, id);
    }
});

fn build_and_read_back(prefix: &[u8], tag: &[u8], id: &[u8]) {
    let (Ok(prefix), Ok(tag), Ok(id)) = (Prefix::parse(prefix), str::from_utf8(tag), JobId::parse(id)) else {
        return;
    };
    let Ok(part) = Part::from_tag(tag) else { return };
    let keys = PartKeys::new(&prefix, &part);
    for key in [&keys.job(&id), &keys.mark(&id), keys.pending(), keys.uniqueof(), keys.wake()] {
        let name = KeyName::parse(&prefix, key).expect("a key that was built");
        assert_eq!(name.part(), part);
        assert!(name.id.as_ref().is_none_or(|read| *read == id));
        assert_eq!(name.build(&prefix), key);
        assert_eq!(Slot::of(key), part.slot());
    }
}
