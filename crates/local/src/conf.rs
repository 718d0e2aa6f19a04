//! The text of a server's configuration file.

use crate::Error;

/// The file's name in the node's folder.
pub(crate) const FILE: &str = "server.conf";

/// What a caller can not set, since it would take the server out of our hands.
const OURS: [&str; 12] = [
    "aclfile",
    "bind",
    "cluster-config-file",
    "cluster-enabled",
    "cluster-port",
    "daemonize",
    "dir",
    "logfile",
    "pidfile",
    "port",
    "requirepass",
    "tls-port",
];

/// Settings in order; the last one of a name holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conf {
    settings: Vec<(String, String)>,
}

impl Conf {
    pub(crate) fn set(&mut self, key: &str, value: impl ToString) -> &mut Conf {
        self.settings.retain(|(known, _)| known != key);
        self.settings.push((key.to_owned(), value.to_string()));
        self
    }

    /// Adds a caller's setting, refusing what is no setting and what is not the caller's to set.
    pub(crate) fn set_checked(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if key.is_empty() || !key.chars().all(plain) {
            return Err(Error::invalid(format!("{key:?} is no name of a server setting")));
        }
        let key = key.to_ascii_lowercase();
        if OURS.contains(&key.as_str()) {
            return Err(Error::invalid(format!(
                "the setting {key:?} is chosen by the launch itself; leave it out"
            )));
        }
        self.set(&key, value);
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        self.settings.iter().map(|(key, value)| format!("{key} {}\n", quoted(value))).collect()
    }
}

/// One argument in the notation of the server's configuration files, whatever bytes it has. A setting that takes
/// several arguments splits them itself.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_of_a_name_holds() {
        let mut conf = Conf::default();
        conf.set("appendonly", "no").set("save", "");
        conf.set_checked("AppendOnly", "yes").unwrap();
        assert_eq!(conf.text(), "save \"\"\nappendonly \"yes\"\n");
    }

    #[test]
    fn any_value_is_one_argument_on_one_line() {
        assert_eq!(quoted(r#"a "b" \c"#), r#""a \"b\" \\c""#);
        assert_eq!(quoted("one\nport 1\0é"), r#""one\x0aport 1\x00\xc3\xa9""#);
    }

    #[test]
    fn what_the_launch_chooses_can_not_be_set() {
        for key in OURS {
            let error = Conf::default().set_checked(&key.to_uppercase(), "1").unwrap_err();
            assert!(error.is_invalid() && error.to_string().contains(key), "{error}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused_and_quoted() {
        for key in ["", "save 1 1\nport", "sävé"] {
            let error = Conf::default().set_checked(key, "").unwrap_err();
            assert!(error.to_string().contains(&format!("{key:?}")), "{error}");
        }
    }
}
