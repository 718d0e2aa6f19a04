//! What is made of the shop's contract, byte for byte.

use super::contract;
use echomq_contract::Language;
use std::path::Path;

fn assert_golden(language: Language) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(language.word());
    for file in contract("shop").generate(language).expect("a sound contract") {
        let path = folder.join(file.name);
        if std::env::var_os("ECHOMQ_UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, &file.text).expect("a file");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        let line = golden.lines().zip(file.text.lines()).position(|(was, is)| was != is);
        assert!(
            golden == file.text,
            "{} is not as it was, first in line {:?} (ECHOMQ_UPDATE_GOLDEN=1 writes it anew)",
            path.display(),
            line.map(|line| line + 1)
        );
        assert_eq!(
            contract("shop")
                .generate(language)
                .expect("a sound contract")
                .iter()
                .filter(|again| **again == file)
                .count(),
            1
        );
        assert!(!file.text.contains(['«', '»', '\t']) || language == Language::Go, "{}", file.name);
        assert!(file.text.contains("Made from keyspace.toml by `echomq contract gen`; not edited by hand."));
    }
}

#[test]
fn the_same_contract_makes_the_same_text_in_every_language() {
    Language::ALL.into_iter().for_each(assert_golden);
}
