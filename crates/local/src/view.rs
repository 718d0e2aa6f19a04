//! What a node says of its cluster, and whether all say the same. No I/O.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The slots of a cluster.
pub(crate) const SLOTS: u16 = 16_384;

/// One line of `CLUSTER NODES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) port: u16,
    flags: Vec<String>,
    pub(crate) primary: Option<String>,
    linked: bool,
    pub(crate) slots: Vec<RangeInclusive<u16>>,
}

impl Member {
    /// It is known under its own name, and not held for dead.
    fn is_well(&self) -> bool {
        const ILL: [&str; 4] = ["handshake", "noaddr", "fail", "fail?"];
        self.linked && !self.flags.iter().any(|flag| ILL.contains(&flag.as_str()))
    }

    /// It is the node that was asked.
    pub(crate) fn is_myself(&self) -> bool {
        self.flags.iter().any(|flag| flag == "myself")
    }
}

/// Something that keeps a cluster from being ready, at the node (by its place) that says so.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) node: usize,
    pub(crate) what: String,
}

/// Reads the answer to `CLUSTER NODES`:
/// `<id> <ip:port@bus[,host]> <flags> <primary|-> <ping> <pong> <epoch> <link> <slots…>`.
pub(crate) fn read(text: &str) -> Result<Vec<Member>, String> {
    text.lines().map(|line| member(line).ok_or_else(|| format!("CLUSTER NODES answered {line:?}"))).collect()
}

fn member(line: &str) -> Option<Member> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [id, address, flags, primary, _, _, _, link, slots @ ..] = words.as_slice() else { return None };
    let (_, port) = address.split('@').next()?.rsplit_once(':')?;
    // A slot on its way stands in brackets; it is counted where it is owned.
    let slots = slots.iter().filter(|slot| !slot.starts_with('[')).map(|slot| range(slot));
    Some(Member {
        id: (*id).to_owned(),
        port: port.parse().ok()?,
        flags: flags.split(',').map(str::to_owned).collect(),
        primary: Some((*primary).to_owned()).filter(|primary| primary != "-"),
        linked: *link == "connected",
        slots: slots.collect::<Option<_>>()?,
    })
}

fn range(slot: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = slot.split_once('-').unwrap_or((slot, slot));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// The first thing that still differs between the views of all nodes of a cluster and a cluster at rest: everyone
/// knows everyone, all slots have an owner, and all agree on whose each slot is and who follows whom.
pub(crate) fn missing(views: &[Vec<Member>]) -> Option<Missing> {
    let first = views.first()?;
    views.iter().enumerate().find_map(|(node, view)| {
        strangers(view, views.len())
            .or_else(|| uncovered(view))
            .or_else(|| {
                (shape(view) != shape(first)).then(|| "it sees other owners than the first node".into())
            })
            .map(|what| Missing { node, what })
    })
}

/// The node of this name is known and well.
pub(crate) fn knows(view: &[Member], id: &str) -> bool {
    view.iter().any(|member| member.id == id && member.is_well())
}

/// Why this view is not one of `count` nodes that all know each other.
fn strangers(view: &[Member], count: usize) -> Option<String> {
    let well = view.iter().filter(|member| member.is_well()).count();
    if view.len() == count && well == count {
        return None;
    }
    let ill = view.iter().find(|member| !member.is_well());
    let ill =
        ill.map(|member| format!("; port {} is {}", member.port, member.flags.join(","))).unwrap_or_default();
    Some(format!("it knows {well} of {count} nodes well{ill}"))
}

fn uncovered(view: &[Member]) -> Option<String> {
    let covered: usize = view.iter().flat_map(|member| &member.slots).map(|slots| slots.len()).sum();
    (covered != usize::from(SLOTS)).then(|| format!("{covered} of {SLOTS} slots have an owner"))
}

type Shape<'a> = BTreeSet<(&'a str, Option<&'a str>, Vec<(u16, u16)>)>;

fn shape(view: &[Member]) -> Shape<'_> {
    let slots = |member: &Member| member.slots.iter().map(|range| (*range.start(), *range.end())).collect();
    view.iter().map(|member| (member.id.as_str(), member.primary.as_deref(), slots(member))).collect()
}

/// The slots of primary `i` of `count`: even shares, the whole range covered once.
pub(crate) fn share(i: u16, count: u16) -> RangeInclusive<u16> {
    let start = |i: u16| (u32::from(i) * u32::from(SLOTS) / u32::from(count)) as u16;
    start(i)..=start(i + 1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\
aaa 127.0.0.1:21001@21011 myself,master - 0 0 1 connected 0-8191
bbb 127.0.0.1:21002@21012,host master - 0 1700000000000 2 connected 8192-16382 16383 [93-<-aaa]
";

    fn seen_by_b(text: &str) -> Vec<Member> {
        read(&text.replace("myself,", "").replacen("21012,host master", "21012 myself,master", 1)).unwrap()
    }

    #[test]
    fn a_line_of_cluster_nodes_is_read_with_its_slots_but_without_those_on_their_way() {
        let view = read(TWO).unwrap();
        assert_eq!((view[1].id.as_str(), view[1].port), ("bbb", 21002));
        assert_eq!(view[1].slots, [8192..=16382, 16383..=16383]);
        assert!(view[0].is_myself() && !view[1].is_myself());
        assert!(read("aaa 127.0.0.1 master").unwrap_err().contains("127.0.0.1 master"));
    }

    #[test]
    fn nodes_that_agree_on_everything_miss_nothing() {
        assert_eq!(missing(&[read(TWO).unwrap(), seen_by_b(TWO)]), None);
    }

    #[test]
    fn a_node_that_is_not_known_by_name_is_missing() {
        let shaking = TWO.replace("host master", "host master,handshake");
        let found = missing(&[read(&shaking).unwrap(), seen_by_b(TWO)]).unwrap();
        assert_eq!(found.node, 0);
        assert!(found.what.contains("1 of 2 nodes") && found.what.contains("handshake"), "{}", found.what);
    }

    #[test]
    fn a_node_that_sees_another_owner_is_named() {
        let moved = TWO.replace("0-8191", "0-8190").replace("8192-16382", "8191-16382");
        let found = missing(&[read(TWO).unwrap(), seen_by_b(&moved)]).unwrap();
        assert_eq!(found, Missing { node: 1, what: "it sees other owners than the first node".into() });
    }

    #[test]
    fn slots_without_an_owner_are_counted() {
        let view = read(&TWO.replace(" 16383 ", " ")).unwrap();
        let found = missing(&[view.clone(), view]).unwrap();
        assert_eq!(found.what, "16383 of 16384 slots have an owner");
    }

    #[test]
    fn shares_are_even_and_cover_every_slot_once() {
        for count in [1, 2, 3, 5, 7, 100, 16_384] {
            let shares: Vec<_> = (0..count).map(|i| share(i, count)).collect();
            assert_eq!((*shares[0].start(), *shares[shares.len() - 1].end()), (0, SLOTS - 1));
            assert!(shares.windows(2).all(|pair| pair[0].end() + 1 == *pair[1].start()));
            let lengths: BTreeSet<usize> = shares.iter().map(ExactSizeIterator::len).collect();
            assert!(lengths.len() <= 2, "{count}: {lengths:?}");
        }
    }
}
