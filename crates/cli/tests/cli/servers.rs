use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
use testkit::{LIMIT, wait_until};

use crate::json::assert_documented;
use crate::run::{Echomq, echomq};

/// `echomq local` while it runs.
struct Local(Child);

impl Drop for Local {
    fn drop(&mut self) {
        // It has ended, or its test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `echomq local`, read up to its first line.
fn local(arguments: &[&str], data: &std::path::Path) -> (Local, Value) {
    let mut command = echomq([&["local", "--json"], arguments].concat()).env("XDG_DATA_HOME", data).command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Local(child), serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
}

fn end(mut local: Local, signal: &str) {
    std::process::Command::new("kill").args(["-s", signal, &local.0.id().to_string()]).status().unwrap();
    assert_eq!(local.0.wait().unwrap().code(), Some(0));
}

fn is_gone(node: &Value) -> bool {
    let pid = node["pid"].as_u64().unwrap().to_string();
    !std::process::Command::new("kill").args(["-0", &pid]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_local_cluster_serves_until_it_is_told_to_end() {
    let data = tempfile::tempdir().unwrap();
    let (child, running) = local(&["--nodes", "2", "--replicas", "1"], data.path());
    let nodes = running["nodes"].as_array().unwrap();
    let roles: Vec<_> = nodes.iter().map(|node| node["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["primary", "primary", "replica", "replica"]);
    let url = running["url"].as_str().unwrap();
    echomq(["job", "add", "mail", "hello", "--url", url]).fine();
    assert!(echomq(["queue", "ls", "--url", url]).fine().contains("mail"));
    end(child, "TERM");
    assert!(nodes.iter().all(is_gone));
}

#[test]
fn without_a_url_commands_share_a_private_server_whose_data_stays() {
    let data = tempfile::tempdir().unwrap();
    let private = |arguments: &[&str]| -> Echomq { echomq(arguments).env("XDG_DATA_HOME", data.path()) };
    let (child, running) = local(&[], data.path());
    private(&["job", "add", "mail", "hello", "--id", "1"]).fine();
    let url = running["url"].as_str().unwrap();
    assert_eq!(echomq(["job", "show", "mail", "1", "--raw", "--url", url]).fine(), "hello");
    end(child, "INT");
    wait_until("the server has ended", LIMIT, || is_gone(&running["nodes"][0]));

    // Nobody holds it now: the next command starts it again, and finds what was there.
    let worked = private(&["work", "mail", "--drain", "--exec", "cat"]).run();
    worked.said(0, "mail: 1 done");
    assert_eq!(worked.text(), "hello");
    private(&["job", "show", "mail", "1"]).run().said(1, "knows no job \"1\"");
}

#[test]
fn no_server_to_be_had_names_the_ways_to_get_one() {
    let data = tempfile::tempdir().unwrap();
    let ran = echomq(["queue", "ls"])
        .env("XDG_DATA_HOME", data.path())
        .env("ECHOMQ_SERVER_BIN", "/nowhere/server")
        .run();
    ran.said(2, "/nowhere/server");
    echomq(["local", "--nodes", "0"]).run().said(2, "at least one primary");
    echomq(["local", "--replicas", "1"]).run().said(2, "--nodes");
}

#[test]
fn fetch_alone_prints_where_the_pinned_server_is_and_starts_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let fetch = |more: &[&str]| {
        let arguments = [&["local", "--fetch"], more].concat();
        // No Python here: what is in the cache is all there is.
        echomq(arguments).env("ECHOMQ_CACHE_DIR", cache.path()).env("PATH", "/nowhere")
    };
    let ran = fetch(&[]).run();
    ran.said(2, "python3");
    assert_eq!(ran.text(), "");

    // The folder that it has made is where it looks the next time.
    let home = std::fs::read_dir(cache.path()).unwrap().next().unwrap().unwrap().path();
    let (server, engine) = (home.join("valkey-server"), testkit::engine());
    std::os::unix::fs::symlink(engine.path(), &server).unwrap();
    assert_eq!(fetch(&[]).fine(), format!("{}\n", server.display()));
    let object = fetch(&["--json"]).object();
    assert_documented("local", 1, &object);
    assert_eq!(object["path"].as_str(), server.to_str());
    assert_eq!(object["version"], engine.version().to_string());
    fetch(&["--dir", "data"]).run().said(2, "--dir");
}
