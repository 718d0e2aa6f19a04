//! What is seen while the demo runs: a picture that is drawn anew in place on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use echomq_load::demo::{Event, Progress, QueueProgress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text::{grouped, ms, program};
use crate::prose;

/// How often plain lines tell how far it is.
const PLAIN_EVERY: Duration = Duration::from_secs(1);

/// The columns of the time before each line of the story.
const TIME_COLUMNS: usize = 10;

pub(super) struct View {
    begun: Instant,
    picture: Picture,
}

enum Picture {
    None,
    /// With the time of the last line that told how far it is.
    Plain(Mutex<Option<Instant>>),
    Live(Live),
}

impl View {
    pub(super) fn new(json: bool) -> View {
        let picture = match (json, io::stdout().is_terminal()) {
            (true, _) => Picture::None,
            (false, false) => Picture::Plain(Mutex::new(None)),
            (false, true) => Picture::Live(Live::new()),
        };
        let view = View { begun: Instant::now(), picture };
        view.line("A private cluster of three nodes starts on this machine; nothing of it stays.");
        view
    }

    pub(super) fn tell(&self, event: Event) {
        match (&self.picture, &event) {
            (Picture::Live(live), Event::Progress(progress)) => live.draw(progress),
            (Picture::Plain(last), Event::Progress(progress)) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
                    *last = Some(Instant::now());
                    self.line(&far(progress));
                }
            }
            _ => self.line(&story(&event)),
        }
    }

    /// Leaves the story on the screen and takes the picture away.
    pub(super) fn close(&self) {
        if let Picture::Live(live) = &self.picture {
            // A terminal that has gone is noticed by what is written next.
            let _ = live.all.clear();
        }
    }

    /// One paragraph of the story, with the time.
    fn line(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let indent = format!("\n{:TIME_COLUMNS$}", "");
        let text = prose::set(text, prose::width() - TIME_COLUMNS).replace('\n', &indent);
        let line = format!("{:>6.1} s  {text}", self.begun.elapsed().as_secs_f64());
        // A reader that has gone is noticed when the report is written.
        match &self.picture {
            Picture::None => {}
            Picture::Plain(_) => drop(writeln!(io::stdout(), "{line}")),
            Picture::Live(live) => drop(live.all.println(line)),
        }
    }
}

/// A line for each queue, and one for the whole.
struct Live {
    all: MultiProgress,
    head: ProgressBar,
    queues: OnceLock<Vec<ProgressBar>>,
    whole: ProgressBar,
}

impl Live {
    fn new() -> Live {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        let head = all.add(bar("\n{msg:.bold}"));
        let whole = all.add(bar("\n  {bar:40.green} {msg}"));
        Live { all, head, queues: OnceLock::new(), whole }
    }

    fn draw(&self, progress: &Progress) {
        let queues = self.queues.get_or_init(|| {
            self.head.set_message(ROW_HEAD);
            progress.queues.iter().map(|_| self.all.insert_before(&self.whole, bar("{msg}"))).collect()
        });
        for (bar, queue) in queues.iter().zip(&progress.queues) {
            bar.set_message(row(queue));
        }
        self.whole.set_length(progress.jobs);
        self.whole.set_position(progress.done());
        self.whole.set_message(far(progress));
    }
}

fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

const ROW_HEAD: &str = "  QUEUE      SLOT  NODE              PENDING  ACTIVE SCHEDULE    DONE";

fn row(queue: &QueueProgress) -> String {
    format!(
        "  {:8} {:>6}  {:16} {:>8} {:>7} {:>8} {:>7}",
        queue.name,
        queue.slot,
        queue.node,
        grouped(queue.pending),
        grouped(queue.active),
        grouped(queue.schedule),
        grouped(queue.done)
    )
}

fn far(progress: &Progress) -> String {
    format!("{} of {} done", grouped(progress.done()), grouped(progress.jobs))
}

/// What happened, told to somebody who sees a cluster for the first time.
fn story(event: &Event) -> String {
    match event {
        Event::Ready { engine, nodes, took } => {
            format!(
                "{} nodes of {engine} are ready, after {:.1} s: {}.",
                nodes.len(),
                took.as_secs_f64(),
                nodes.join(", ")
            )
        }
        Event::Steady { jobs, per_second } => format!(
            "{} orders come in, {} a second, into four queues. All keys of a queue carry its name in braces, as \
             emq:{{orders}}:pending: so they share a slot, and a slot is on one node.",
            grouped(*jobs),
            grouped(*per_second)
        ),
        Event::Cut(cut) => format!(
            "All {} connections of node {} were cut. {} later an order was done that came in after the cut.",
            cut.connections,
            cut.node,
            ms(cut.on_again_ms)
        ),
        Event::Moving { queue, slot, from, to } => {
            format!(
                "Slot {slot} moves, which is queue {queue} with all its jobs: from node {from} to node {to}."
            )
        }
        Event::Moved(moved) => format!(
            "It took {}. {} later an order was done that came in after the move.",
            ms(moved.took_ms),
            ms(moved.on_again_ms)
        ),
        Event::Stays { engine } => {
            // The command on a line of its own is not broken.
            let program = program();
            format!(
                "No slot moves: {engine} can not move one as a whole (CLUSTER MIGRATESLOTS, Valkey 9). To see it:\n  \
                 ECHOMQ_SERVER_BIN=$({program} local --fetch) {program} demo"
            )
        }
        Event::Burst { jobs } => format!("The other {} orders come in, all at once.", grouped(*jobs)),
        _ => String::new(),
    }
}
