//! All findings as one table.

use serde_json::{Map, Value, json};

use crate::client::Name;
use crate::findings::Findings;
use crate::name_of;
use crate::trial::Trial;

/// A cell is cut here; JSON has it whole.
const WIDEST: usize = 44;

pub(crate) struct Table {
    clients: Vec<Name>,
    cells: Vec<(Trial, Name, Findings)>,
}

impl Table {
    pub(crate) fn new(clients: &[Name]) -> Table {
        Table { clients: clients.to_vec(), cells: Vec::new() }
    }

    pub(crate) fn add(&mut self, trial: Trial, client: Name, findings: Findings) {
        self.cells.push((trial, client, findings));
    }

    /// Whether a client came through every trial without a fault; also if it went through none.
    pub(crate) fn is_sound(&self, client: Name) -> bool {
        self.cells.iter().all(|(_, name, findings)| *name != client || findings.faults.is_empty())
    }

    pub(crate) fn json(&self) -> String {
        let trials = self.cells.iter().map(|(trial, client, findings)| {
            json!({
                "trial": name_of(trial),
                "client": name_of(client),
                "figures": findings.figures,
                "faults": findings.faults,
            })
        });
        let versions: Map<String, Value> =
            self.clients.iter().map(|client| (name_of(client), json!(client.version()))).collect();
        let all = json!({
            "server": testkit::engine().to_string(),
            "versions": versions,
            "trials": trials.collect::<Vec<_>>(),
        });
        format!("{all:#}")
    }

    pub(crate) fn text(&self) -> String {
        let mut rows: Vec<Vec<String>> = vec![self.head()];
        let mut titles = Vec::new();
        for trial in self.trials() {
            titles.push((rows.len(), format!("{} {}", name_of(&trial), trial.title())));
            for figure in self.figures(trial) {
                let cells = self.clients.iter().map(|&client| self.cell(trial, client, &figure));
                rows.push(std::iter::once(format!("  {figure}")).chain(cells).collect());
            }
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.clients.len()).map(width).collect();
        let mut lines = vec![format!("server: {}; own ground: three primaries", testkit::engine())];
        for (at, row) in rows.iter().enumerate() {
            lines.extend(
                titles.iter().filter(|(before, _)| *before == at).map(|(_, title)| format!("\n{title}")),
            );
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            lines.push(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned());
        }
        lines.join("\n")
    }

    fn head(&self) -> Vec<String> {
        let names = self.clients.iter().map(|client| format!("{} {}", client.package(), client.version()));
        std::iter::once(String::new()).chain(names).collect()
    }

    fn trials(&self) -> Vec<Trial> {
        let mut trials: Vec<Trial> = self.cells.iter().map(|(trial, ..)| *trial).collect();
        trials.dedup();
        trials
    }

    /// The names of a trial's figures, in the order in which they first appear.
    fn figures(&self, trial: Trial) -> Vec<String> {
        let mut figures: Vec<String> = Vec::new();
        for (_, _, findings) in self.cells.iter().filter(|(of, ..)| *of == trial) {
            let new: Vec<String> =
                findings.figures.keys().filter(|name| !figures.contains(name)).cloned().collect();
            figures.extend(new);
        }
        figures
    }

    fn cell(&self, trial: Trial, client: Name, figure: &str) -> String {
        let mut cells = self.cells.iter().filter(|(t, c, _)| (*t, *c) == (trial, client));
        let value = cells.next().and_then(|(_, _, findings)| findings.figures.get(figure));
        let text = match value {
            None => "–".to_owned(),
            Some(Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Some(value) => value.to_string(),
        };
        match text.char_indices().nth(WIDEST) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }
}
