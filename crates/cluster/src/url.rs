//! Settings as a URL. Pure.

use std::path::PathBuf;

use crate::{Address, Error, Login, Settings, Tls};

const SCHEMES: [(&str, bool); 4] =
    [("redis://", false), ("valkey://", false), ("rediss://", true), ("valkeys://", true)];

pub(crate) fn parse(url: &str) -> Result<Settings, Error> {
    read(url).map_err(|why| Error::url(url, &why))?
}

/// The outer error says what is wrong with the text, the inner one what is wrong with the settings.
fn read(url: &str) -> Result<Result<Settings, Error>, String> {
    let (before, options) = url.split_once('?').unwrap_or((url, ""));
    // Whoever wrote a password with a question mark in it wrote no option, and is not shown it.
    if options.contains('@') {
        return Err(
            "in a password a question mark is written %3F, and in an option an @ is written %40".into()
        );
    }
    if let Some(path) = before.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err("the path of the socket is missing".into());
        }
        let socket = Address::Unix(PathBuf::from(path));
        return Settings::new([socket])
            .map_or_else(|error| Ok(Err(error)), |it| with_options(it, options).map(Ok));
    }
    let (rest, secure) = SCHEMES
        .iter()
        .find_map(|(scheme, secure)| Some((before.strip_prefix(scheme)?, *secure)))
        .ok_or("it must begin with redis://, rediss://, valkey://, valkeys:// or unix:")?;
    let (login, hosts) = match rest.rsplit_once('@') {
        Some((login, hosts)) => (Some(login), hosts),
        None => (None, rest),
    };
    let (hosts, path) = hosts.split_once('/').unwrap_or((hosts, ""));
    let seeds = hosts.split(',').map(host_and_port).collect::<Result<Vec<_>, _>>()?;
    let mut settings = match Settings::new(seeds) {
        Ok(settings) => settings,
        Err(error) => return Ok(Err(error)),
    };
    if secure {
        settings = settings.tls(Tls::new());
    }
    if !path.is_empty() {
        settings = settings.database(database(path)?);
    }
    if let Some(login) = login {
        settings = with_login(settings, login)?;
    }
    with_options(settings, options).map(Ok)
}

fn with_login(settings: Settings, login: &str) -> Result<Settings, String> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (user, password) = (decoded(user)?, decoded(password)?);
    Ok(match (user.is_empty(), password.is_empty()) {
        (true, true) => settings,
        (true, false) => settings.login(Login::password(password)),
        _ => settings.login(Login::user(user, password)),
    })
}

fn with_options(mut settings: Settings, options: &str) -> Result<Settings, String> {
    let (mut certificate, mut key) = (None, None);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = decoded(value)?;
        let mut tls = |change: fn(Tls, String) -> Tls, value| match settings.tls.take() {
            Some(tls) => {
                settings.tls = Some(change(tls, value));
                Ok(())
            }
            None => Err(format!("{name} needs an encrypted URL: rediss:// or valkeys://")),
        };
        match name {
            "db" => settings.database = database(&value)?,
            "one-endpoint" => settings.one_endpoint = yes_or_no(name, &value)?,
            "full-coverage" => settings.full_coverage = yes_or_no(name, &value)?,
            "tls-ca" => tls(Tls::authorities, value)?,
            "tls-name" => tls(Tls::server_name, value)?,
            "tls-cert" => tls(|tls, _| tls, String::new()).map(|()| certificate = Some(value))?,
            "tls-key" => tls(|tls, _| tls, String::new()).map(|()| key = Some(value))?,
            _ => {
                return Err(format!(
                    "the option \"{}\" is none of db, one-endpoint, full-coverage, tls-ca, tls-cert, tls-key, tls-name",
                    echomq_keyspace::Escaped(name.as_bytes())
                ));
            }
        }
    }
    match (certificate, key) {
        (None, None) => Ok(settings),
        (Some(certificate), Some(key)) => {
            settings.tls = settings.tls.map(|tls| tls.identity(certificate, key));
            Ok(settings)
        }
        _ => Err("tls-cert and tls-key belong together".into()),
    }
}

fn database(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "after the slash, and after db=, comes the number of a database".to_owned())
}

fn yes_or_no(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name} is true or false")),
    }
}

fn host_and_port(part: &str) -> Result<Address, &'static str> {
    let (host, port) = match part.strip_prefix('[').map(|inner| inner.split_once(']')) {
        Some(Some((host, ""))) => (host, "6379"),
        Some(Some((host, rest))) => (host, rest.strip_prefix(':').ok_or("after ] comes :port")?),
        Some(None) => return Err("a [ has no ]"),
        None => part.rsplit_once(':').unwrap_or((part, "6379")),
    };
    if host.contains(':') && !part.starts_with('[') {
        return Err("write an IPv6 address in brackets, as in redis://[::1]:6379");
    }
    let port = port.parse().map_err(|_| "the port is no number from 1 to 65535")?;
    Address::tcp(host, port).ok_or("a host name is missing, or the port is 0")
}

/// Undoes percent coding.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let digit = |hex: u8| char::from(hex).to_digit(16);
        let code = code.and_then(|hex| u8::try_from(digit(hex[0])? * 16 + digit(hex[1])?).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).map_err(|_| "what its percent codes mean is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn seeds(url: &str) -> String {
        let settings = parse(url).expect(url);
        settings.seeds.iter().map(Address::to_string).collect::<Vec<_>>().join(" ")
    }

    fn login(url: &str) -> Option<Login> {
        parse(url).unwrap().credentials.map(|known| known.login().now_or_never().unwrap().unwrap())
    }

    fn refusal(url: &str) -> String {
        match parse(url) {
            Ok(settings) => panic!("{url} was taken: {settings:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_url_names_one_or_many_nodes() {
        assert_eq!(seeds("redis://localhost"), "localhost:6379");
        assert_eq!(seeds("redis://a:1,b:2/"), "a:1 b:2");
        assert_eq!(seeds("valkey://[::1]:7001"), "[::1]:7001");
        assert_eq!(seeds("unix:/tmp/s"), "unix:/tmp/s");
        assert_eq!(seeds("unix:///tmp/s?db=1"), "unix:/tmp/s");
    }

    #[test]
    fn a_login_is_read_and_decoded() {
        assert_eq!(login("redis://ann:p%40ss@a:1"), Some(Login::user("ann", "p@ss")));
        assert_eq!(login("redis://:secret@a:1"), Some(Login::password("secret")));
        assert_eq!(login("redis://:50%+1%zz%@a:1"), Some(Login::password("50%+1%zz%")), "no codes");
        assert_eq!(login("redis://a:1"), None);
    }

    #[test]
    fn a_database_is_named_by_its_path_or_an_option() {
        for url in ["redis://a/3", "redis://a:1,b:2/3", "redis://a?db=3", "unix:/tmp/s?db=3"] {
            assert_eq!(parse(url).unwrap().database, 3, "{url}");
        }
        assert_eq!(parse("redis://a").unwrap().database, 0);
    }

    #[test]
    fn encryption_has_a_scheme_and_options() {
        assert_eq!(parse("redis://a").unwrap().tls, None);
        assert_eq!(parse("rediss://a").unwrap().tls, Some(Tls::new()));
        let settings = parse("valkeys://a?tls-ca=/ca.pem&tls-cert=/c.pem&tls-key=/k.pem&tls-name=n").unwrap();
        let expected = Tls::new().authorities("/ca.pem").identity("/c.pem", "/k.pem").server_name("n");
        assert_eq!(settings.tls, Some(expected));
        assert!(refusal("redis://a?tls-ca=/ca.pem").contains("rediss://"));
        assert!(refusal("rediss://a?tls-key=/k.pem").contains("belong together"));
    }

    #[test]
    fn services_that_hide_their_nodes_have_an_option() {
        assert!(parse("redis://a?one-endpoint=true").unwrap().one_endpoint);
        assert!(!parse("redis://a?full-coverage=true").unwrap().one_endpoint);
        assert!(parse("redis://a?full-coverage=true").unwrap().full_coverage);
        assert!(refusal("redis://a?one-endpoint").contains("true or false"));
    }

    #[test]
    fn a_url_that_cannot_be_read_says_what_to_write_and_hides_the_password() {
        for url in [
            "http://a",
            "redis://",
            "redis://a:0",
            "redis://a:x",
            "redis://::1:7001",
            "redis://[::1",
            "redis://a/x",
            "redis://a/70000",
            "redis://a?database=1",
            "unix:",
        ] {
            assert!(refusal(url).contains(url), "{}", refusal(url));
        }
        assert!(!refusal("redis://u:secret@a:x").contains("secret"));
        for url in ["redis://a:1?secret@b", "redis://:1?secret=secret@b", "redis://:1?db=1&secret&@b"] {
            assert!(!refusal(url).contains("secret") && refusal(url).contains("%3F"), "{}", refusal(url));
        }
        assert!(!refusal("redis://u:sec%FFret@a").contains("ret"), "{}", refusal("redis://u:sec%FFret@a"));
        assert!(!refusal("u:secret@a").contains("secret"), "{}", refusal("u:secret@a"));
    }
}
