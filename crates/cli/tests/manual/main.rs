//! The manual is true: its links lead somewhere, its commands do what it shows, its tables are those of the code.
//!
//! `ECHOMQ_UPDATE_MANUAL=1 cargo test -p echomq-cli --test manual` writes what commands print into the pages.

/// The table of answers, held against what the connector does.
mod answers;
/// Blocks that show a terminal.
mod console;
/// Links, paths, the summary.
mod links;
/// Pages, as far as they are read.
mod page;
/// Commands, run.
mod session;

use page::{Page, manual};

/// The commands of one page with what it shows, by block.
fn blocks(page: &Page) -> Vec<(std::ops::Range<usize>, Vec<console::Step>)> {
    let console = page.fences().into_iter().filter(|fence| fence.language == "console");
    let read = |fence: page::Fence| {
        let steps = console::read(&page.text[fence.body.clone()]);
        (fence.body, steps.unwrap_or_else(|why| panic!("{}: a block is no console: {why}", page.name())))
    };
    console.map(read).collect()
}

/// Runs the commands of a page, and says where it shows something else. With `update`, mends the page.
fn held(page: &mut Page, url: Option<&str>, update: bool) -> Vec<String> {
    let mut blocks = blocks(page);
    let steps: Vec<&mut console::Step> = blocks.iter_mut().flat_map(|(_, steps)| steps).collect();
    let commands: Vec<String> = steps.iter().map(|step| step.command.clone()).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let ran = match session::run(&commands, url) {
        Ok(ran) => ran,
        Err(why) => return vec![format!("{}: {why}", page.name())],
    };
    let mut wrong = Vec::new();
    for (at, (step, ran)) in steps.into_iter().zip(&ran).enumerate() {
        let here = format!("{}: $ {}", page.name(), step.command);
        if ran.code > 1 && commands.get(at + 1) != Some(&"echo $?") {
            wrong.push(format!(
                "{here}\nended with {}; a page shows that by a next command echo $?",
                ran.code
            ));
        }
        match (step.shows(&ran.output), update) {
            (true, _) => {}
            (false, true) => step.take(&ran.output),
            (false, false) => {
                wrong.push(format!(
                    "{here}\nshows:\n{}\nbut prints:\n{}",
                    step.shown.join("\n"),
                    ran.output.join("\n")
                ));
            }
        }
    }
    for (body, steps) in blocks.into_iter().rev() {
        page.text.replace_range(body, &console::write(&steps));
    }
    wrong
}

#[test]
fn every_command_prints_what_its_page_shows() {
    let update = std::env::var_os("ECHOMQ_UPDATE_MANUAL").is_some();
    let mut pages: Vec<Page> = manual().into_iter().filter(|page| !blocks(page).is_empty()).collect();
    assert!(pages.len() > 5, "hardly any page has a command");
    let commands = pages.iter().flat_map(blocks).flat_map(|(_, steps)| steps).map(|step| step.command);
    session::build_examples(&commands.collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for page in &mut pages {
        // A page that speaks of it has a cluster of its own.
        let cluster = page.text.contains("ECHOMQ_URL").then(|| testkit::cluster_with(3, 1));
        wrong.extend(held(page, cluster.as_ref().map(testkit::Cluster::url).as_deref(), update));
        if update {
            page.write();
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n\n{} of the manual's commands; ECHOMQ_UPDATE_MANUAL=1 writes the pages anew",
        wrong.join("\n\n"),
        wrong.len()
    );
}

#[test]
fn what_a_page_shows_of_rust_is_compiled() {
    let compiled = Page::read("crates/queue/src/lib.rs").text;
    for page in manual() {
        let included = compiled.contains(&format!("include_str!(\"../../../{}\")", page.name()));
        let shows = page.fences().iter().any(|fence| fence.language == "rust");
        assert_eq!(included, shows, "{}: whether it is among the pages that are compiled", page.name());
    }
}

#[test]
fn a_page_that_shows_what_is_not_printed_is_found() {
    let page = |text: &str| Page { path: "docs/src/made-up.md".into(), text: text.to_owned() };
    let mut wrong =
        page("# A\n\n```console\n$ echomq key slot a\n1\n```\n\n```console\n$ echomq key slot\n…\n```\n");
    let told = held(&mut wrong, None, false);
    assert!(told.len() == 2 && told[0].contains("but prints:\n15495"), "{told:?}");
    assert!(told[1].contains("ended with 2"), "{told:?}");
    held(&mut wrong, None, true);
    assert!(wrong.text.starts_with("# A\n\n```console\n$ echomq key slot a\n15495\n```\n"), "{}", wrong.text);
}
