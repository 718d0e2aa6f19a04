//! What a server's answer means for the request that got it. Pure decisions; `client` acts on them.

use echomq_keyspace::Slot;

use crate::Address;

/// A refusal, by class. Servers word them differently, so only the first word (and for a script's error the
/// wrapped one) is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The slot lives elsewhere, for good.
    Moved { slot: Slot, to: Address },
    /// This request, and only this one, is to be asked at another node.
    Ask { to: Address },
    /// The keys of one slot are on two nodes at the moment.
    TryAgain,
    /// The node can not serve the slot now: cluster down, primary down, loading, just demoted.
    NotServing(String),
    /// The script is not in this node's cache.
    NoScript,
    /// The transaction died of an earlier error.
    ExecAbort,
    /// A redirect that can not be followed: refresh the map.
    BadRedirect(String),
    /// Everything else goes to the caller as it is.
    Other,
}

impl Refusal {
    /// Reads an error reply of `from`.
    pub(crate) fn read(code: &str, detail: &str, from: &Address) -> Refusal {
        match code {
            "MOVED" => match redirect(detail, from) {
                Some((slot, to)) => Refusal::Moved { slot, to },
                None => Refusal::BadRedirect(format!("MOVED {detail}")),
            },
            "ASK" => match redirect(detail, from) {
                Some((_, to)) => Refusal::Ask { to },
                None => Refusal::BadRedirect(format!("ASK {detail}")),
            },
            "TRYAGAIN" => Refusal::TryAgain,
            "CLUSTERDOWN" | "MASTERDOWN" | "LOADING" | "READONLY" => {
                Refusal::NotServing(format!("{code} {detail}").trim_end().to_owned())
            }
            "NOSCRIPT" => Refusal::NoScript,
            "EXECABORT" => Refusal::ExecAbort,
            // A demoted node refuses a script's write with the true reason inside the script's own error.
            _ if detail.contains("READONLY ") => {
                Refusal::NotServing(format!("READONLY, in a script: {detail}"))
            }
            _ => Refusal::Other,
        }
    }
}

/// `3999 host:port`
fn redirect(detail: &str, from: &Address) -> Option<(Slot, Address)> {
    let (slot, to) = detail.split_once(' ')?;
    Some((Slot::new(slot.parse().ok()?)?, Address::announced(to.split(' ').next()?, from)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from() -> Address {
        Address::tcp("192.0.2.10", 7000).unwrap()
    }

    /// Every row of the field's redirect forms.
    #[test]
    fn redirects_are_followed_or_refused_as_the_table_says() {
        let table = include_str!("../../../testdata/cases/topology/redirects.tsv");
        let mut rows = 0;
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let [reply, kind, slot, to] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (code, detail) = reply.split_once(' ').unwrap_or((reply, ""));
            let to = to.split(' ').next().unwrap();
            match (kind, Refusal::read(code, detail, &from())) {
                ("MOVED", Refusal::Moved { slot: got, to: at }) => {
                    assert_eq!(
                        (got.get().to_string().as_str(), at.to_string().as_str()),
                        (slot, to),
                        "{line}"
                    );
                }
                ("ASK", Refusal::Ask { to: at }) => assert_eq!(at.to_string(), to, "{line}"),
                ("error", Refusal::BadRedirect(_)) | ("ordinary error", Refusal::Other) => {}
                (_, got) => panic!("{line}: {got:?}"),
            }
            rows += 1;
        }
        assert_eq!(rows, 11);
    }

    #[test]
    fn a_demoted_primary_is_recognised_inside_a_script_error() {
        let nested = Refusal::read(
            "ERR",
            "Error running script: READONLY You can't write against a read only replica.",
            &from(),
        );
        assert!(matches!(nested, Refusal::NotServing(_)));
    }
}
