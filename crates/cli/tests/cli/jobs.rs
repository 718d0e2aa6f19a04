use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;
use std::time::UNIX_EPOCH;

use echomq_keyspace::JobId;
use testkit::{LIMIT, unique_queue, wait_until};

use crate::run::{cluster, echomq, on};

#[test]
fn a_job_is_added_and_shown() {
    let (cluster, queue) = (cluster(), unique_queue("job"));
    let id =
        on(&cluster, ["job", "add", &queue, "{\"order\":7}", "--name", "mail", "--attempts", "3"]).fine();
    let id = id.trim_end();
    assert_eq!(id.len(), JobId::MINTED_BYTES);
    let text = on(&cluster, ["job", "show", &queue, id]).fine();
    for part in
        [&format!("{id} in {queue}: pending\n"), "name       mail\n", "0 of 3 attempts", "\n{\"order\":7}\n"]
    {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn a_job_shows_when_it_was_added_whoever_made_its_id() {
    let (cluster, queue) = (cluster(), unique_queue("added"));
    let minted = on(&cluster, ["job", "add", &queue, "x"]).fine();
    let own = on(&cluster, ["job", "add", &queue, "x", "--id", "own"]).fine();
    let now_ms = UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    for id in [minted.trim_end(), own.trim_end()] {
        let job = on(&cluster, ["job", "show", &queue, id, "--json"]).object();
        let created_ms = job["created_ms"].as_u64().unwrap();
        assert!(now_ms.abs_diff(created_ms) < 60_000, "{id}: {created_ms}, and it is {now_ms}");
        let text = on(&cluster, ["job", "show", &queue, id]).fine();
        assert!(text.contains("  added      20"), "{text}");
    }
}

#[test]
fn what_is_no_option_is_no_payload_either() {
    let (cluster, queue) = (cluster(), unique_queue("dash"));
    for typo in ["--dely", "-5"] {
        let ran = on(&cluster, ["job", "add", &queue, typo]).run();
        ran.said(2, &format!("unexpected argument '{typo}'"));
        ran.said(2, "a payload that begins with \"-\" goes behind --");
    }
    on(&cluster, ["job", "add", &queue, "--id", "7", "--", "--dely"]).fine();
    assert_eq!(on(&cluster, ["job", "show", &queue, "7", "--raw"]).fine(), "--dely");
    // Where there is no payload, nothing is said of one.
    assert!(!on(&cluster, ["queue", "ls", "--dely"]).run().err.contains("payload"));
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    let (cluster, queue) = (cluster(), unique_queue("name"));
    let named = |bytes| on(&cluster, ["job", "add", &queue, "x", "--name", &"n".repeat(bytes)]);
    named(echomq::NAME_MAX_BYTES).fine();
    named(echomq::NAME_MAX_BYTES + 1).run().said(2, "the name of a job has 257 bytes, the limit is 256");
    assert_eq!(on(&cluster, ["queue", "show", &queue, "--json"]).object()["pending"], 1);
}

#[test]
fn a_payload_of_any_bytes_comes_out_as_it_went_in() {
    let (cluster, queue) = (cluster(), unique_queue("bytes"));
    let payload: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    on(&cluster, ["job", "add", &queue, "-", "--id", "b"]).input(payload.clone()).fine();
    assert_eq!(on(&cluster, ["job", "show", &queue, "b", "--raw"]).run().out, payload);
    let job = on(&cluster, ["job", "show", &queue, "b", "--json"]).object();
    assert_eq!((&job["payload"], job["payload_bytes"].as_u64()), (&serde_json::Value::Null, Some(100_000)));
    assert!(job["payload_hex"].as_str().unwrap().starts_with("000102"));
    let text = on(&cluster, ["job", "show", &queue, "b"]).fine();
    assert!(
        text.contains("payload, 100000 bytes, escaped:\n\\x00\\x01") && text.is_ascii(),
        "{}",
        &text[..300]
    );
}

#[test]
fn a_payload_that_is_too_large_is_refused() {
    let (cluster, queue) = (cluster(), unique_queue("large"));
    let most = echomq::PAYLOAD_MAX_BYTES;
    on(&cluster, ["job", "add", &queue, "-", "--id", "most"]).input(vec![b'x'; most]).fine();
    on(&cluster, ["job", "add", &queue, "-"])
        .input(vec![b'x'; most + 1])
        .run()
        .said(2, "more than 1048576 bytes");
    on(&cluster, ["job", "add", &queue, "--file", "-"])
        .input(vec![b'x'; most + 1])
        .run()
        .said(2, "1048577 bytes");
}

#[test]
fn a_second_job_under_an_id_is_refused_with_exit_code_1() {
    let (cluster, queue) = (cluster(), unique_queue("twice"));
    assert_eq!(on(&cluster, ["job", "add", &queue, "first", "--id", "order:{7}"]).fine(), "order:{7}\n");
    let ran = on(&cluster, ["job", "add", &queue, "second", "--id", "order:{7}"]).run();
    ran.said(1, "job \"order:{7}\" is there already; nothing was changed");
    assert_eq!(ran.text(), "");
    assert_eq!(on(&cluster, ["job", "show", &queue, "order:{7}", "--raw"]).fine(), "first");
}

#[test]
fn a_job_that_is_not_there_is_a_finding() {
    let (cluster, queue) = (cluster(), unique_queue("none"));
    on(&cluster, ["job", "show", &queue, "7"]).run().said(1, "knows no job \"7\"");
    on(&cluster, ["job", "show", &queue, ""]).run().said(2, "job id \"\" refused: it is empty");
}

#[test]
fn every_line_of_a_file_becomes_a_job() {
    let (cluster, queue) = (cluster(), unique_queue("file"));
    let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/orders.ndjson");
    let add = || on(&cluster, ["job", "add", &queue, "--file", orders, "--id-from", "order"]);
    let text = add().fine();
    assert!(text.starts_with(&format!("10000 jobs added to {queue} (slot ")), "{text}");
    assert_eq!(on(&cluster, ["queue", "show", &queue, "--json"]).object()["pending"], 10_000);
    let second = on(&cluster, ["job", "show", &queue, "A-100002", "--raw"]).fine();
    assert_eq!(second, std::fs::read_to_string(orders).unwrap().lines().nth(1).unwrap());

    // The same file again does no harm.
    let again = add().run();
    again.said(1, "");
    assert!(
        again.text().contains("0 jobs added") && again.text().contains("10000 there already"),
        "{again:?}"
    );
}

#[test]
fn lines_on_standard_input_are_bytes_and_bad_ones_are_told() {
    let (cluster, queue) = (cluster(), unique_queue("lines"));
    let binary = b"\xff\x00\r\n\n{\"id\": 9007199254740993}\nlast";
    let text = on(&cluster, ["job", "add", &queue, "--file", "-"]).input(*binary).fine();
    assert!(text.starts_with("3 jobs added") && text.contains("1 empty lines passed over"), "{text}");

    let input = "{\"id\":9007199254740993}\n[1]\n{\"id\":1.5}\n{\"id\":9007199254740993}\n{\"id\":\"é\"}\n";
    let ran =
        on(&cluster, ["job", "add", &queue, "--file", "-", "--id-from", "id", "--json"]).input(input).run();
    ran.said(1, "line 2 is passed over: it is no JSON object");
    ran.said(1, "line 3 is passed over: its field \"id\" is neither a text nor a whole number");
    let object: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!((&object["added"], &object["duplicates"], &object["bad"]), (&2.into(), &1.into(), &2.into()));
    on(&cluster, ["job", "show", &queue, "9007199254740993"]).fine();
    let id = std::ffi::OsStr::from_bytes("é".as_bytes());
    assert!(
        on(&cluster, ["job".as_ref(), "show".as_ref(), queue.as_ref(), id])
            .fine()
            .starts_with(r"\xc3\xa9 in")
    );
    on(&cluster, ["job", "add", &queue, "--file", "/nowhere/jobs"])
        .run()
        .said(2, "\"/nowhere/jobs\" can not be read");
}

#[test]
fn a_line_is_a_job_before_the_next_line_comes() {
    let (cluster, queue) = (cluster(), unique_queue("slow"));
    let mut command = on(&cluster, ["job", "add", &queue, "--file", "-"]).command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"first\nse").unwrap();
    let pending = || {
        let shown = on(&cluster, ["queue", "show", &queue, "--json"]).run().text();
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["pending"].clone()
    };
    wait_until("the first line is a job", LIMIT, || pending() == 1);
    stdin.write_all(b"cond").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.starts_with(b"2 jobs added"), "{output:?}");
}

#[test]
fn a_full_queue_refuses_with_exit_code_1() {
    let (cluster, queue) = (cluster(), unique_queue("full"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mq = echomq::EchoMq::connect(&cluster.url()).await.unwrap();
        mq.queue(&queue).unwrap().set_limit(Some(1)).await.unwrap();
    });
    on(&cluster, ["job", "add", &queue, "y"]).run().said(1, "is full; nothing was stored");
    let ran = on(&cluster, ["job", "add", &queue, "--file", "-"]).input("a\nb\n").run();
    assert!(ran.code == 1 && ran.text().contains("2 refused, the queue is full"), "{ran:?}");
}

#[test]
fn a_server_that_is_not_there_is_trouble() {
    let ran = echomq(["job", "add", "q", "x", "--url", "redis://127.0.0.1:1"]).run();
    ran.said(2, "echomq: no node answered (tried 127.0.0.1:1");
    echomq(["queue", "ls", "--url", "http://x"]).run().said(2, "the URL \"http://x\" can not be used");
}
