//! A Lua script and the name a server knows it by.

/// The text of a script and its SHA-1, by which `EVALSHA` names it.
#[derive(Debug)]
pub struct Script {
    text: &'static str,
    sha: String,
}

impl Script {
    /// Takes the text, `#!lua` line included, and hashes it once.
    pub fn new(text: &'static str) -> Script {
        Script { text, sha: redis::Script::new(text).get_hash().to_owned() }
    }

    /// The text as `EVAL` sends it.
    pub fn text(&self) -> &str {
        self.text
    }

    /// 40 hex digits.
    pub fn sha(&self) -> &str {
        &self.sha
    }
}
