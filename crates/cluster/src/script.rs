//! A Lua script and the name a server knows it by.

/// The text of a script and its SHA-1, by which `EVALSHA` names it.
#[derive(Debug)]
pub struct Script {
    text: String,
    sha: String,
}

impl Script {
    /// Takes a source, `#!lua` line included. What a server gets is the source without its comment lines and
    /// indentation: inside transactions scripts travel by text, and the server hashes it every time.
    pub fn new(source: &str) -> Script {
        let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let sha = redis::Script::new(&text).get_hash().to_owned();
        Script { text, sha }
    }

    /// The text as `EVAL` sends it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// 40 hex digits.
    pub fn sha(&self) -> &str {
        &self.sha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_the_source_without_comments() {
        let script = Script::new("#!lua\n-- why\nlocal a = 1\n\n  return a -- one\n");
        assert_eq!(script.text(), "#!lua\nlocal a = 1\nreturn a -- one");
        assert_eq!(script.sha().len(), 40);
    }
}
