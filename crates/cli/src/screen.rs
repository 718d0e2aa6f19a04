//! Standard output: a report as text or as JSON, and the colours.

use std::io::{self, BufWriter, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// A heading, a name that is talked about.
pub(crate) const HEAD: Style = Style::new().bold();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What to look at.
pub(crate) const MARK: Style = AnsiColor::Yellow.on_default().bold();
/// What may be passed over.
pub(crate) const DIM: Style = Style::new().dimmed();

/// What a verb came to. As JSON it is one object on one line, whose shape stands in json.md.
pub(crate) trait Report: Serialize {
    /// For people.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Standard output. A reader that has gone is an error of kind `BrokenPipe`, never a panic.
pub(crate) struct Screen {
    pub(crate) json: bool,
    out: BufWriter<AutoStream<io::Stdout>>,
}

impl Screen {
    pub(crate) fn new(json: bool, color: clap::ColorChoice) -> Screen {
        let choice = match color {
            clap::ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            clap::ColorChoice::Always => anstream::ColorChoice::Always,
            clap::ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Screen { json, out: BufWriter::new(AutoStream::new(io::stdout(), choice)) }
    }

    /// Shows a report in the form that was asked for.
    pub(crate) fn show(&mut self, report: &impl Report) -> io::Result<()> {
        if self.json { self.line(report) } else { report.text(&mut self.out) }
    }

    /// One object as one line of JSON.
    pub(crate) fn line(&mut self, object: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, object)?;
        self.out.write_all(b"\n")
    }

    /// Bytes as they are, colours or not.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.flush()?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
