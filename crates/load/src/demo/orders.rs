//! The order file that ships with the project, and what its handlers do with an order.

use std::collections::HashMap;

use echomq::JobId;
use serde::Deserialize;

/// 10,000 orders, one a line; made by the example `make_orders`.
const FILE: &[u8] = include_bytes!("../../../../testdata/orders.ndjson");

/// The queues by what an order waits for. Their slots stand on different nodes of a cluster of three.
const QUEUES: [(&str, &str); 4] =
    [("placed", "orders"), ("confirmed", "payments"), ("paid", "parcels"), ("shipped", "mail")];

/// Why the first run of some orders fails, queue by queue.
const FAULTS: [&str; 4] = [
    "the stock service is busy, try again",
    "the card network timed out",
    "the label printer is out of paper",
    "the mail server said: try again later",
];

/// One in so many orders fails in its first run.
const FAULTY: u32 = 50;

/// One line of the file.
pub(super) struct Order {
    pub(super) id: JobId,
    /// Its place among [`names`].
    pub(super) queue: usize,
    pub(super) status: &'static str,
    pub(super) line: &'static [u8],
    fails_first: bool,
}

#[derive(Deserialize)]
struct Line<'a> {
    order: &'a str,
    items: Vec<Item>,
    total: u64,
    status: &'a str,
}

#[derive(Deserialize)]
struct Item {
    qty: u64,
    price: u64,
}

/// The names of the queues.
pub(super) fn names() -> [&'static str; QUEUES.len()] {
    QUEUES.map(|(_, name)| name)
}

/// All orders of the file.
pub(super) struct Orders {
    pub(super) all: Vec<Order>,
    by_id: HashMap<JobId, usize>,
}

impl Orders {
    /// Reads the file. The error names the line.
    pub(super) fn shipped() -> Result<Orders, String> {
        let lines = FILE.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let read = |(i, line)| {
            order(line, i as u32 + 1).map_err(|why| format!("line {} of the order file: {why}", i + 1))
        };
        let all = lines.enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let by_id = all.iter().enumerate().map(|(i, order)| (order.id.clone(), i)).collect();
        Ok(Orders { all, by_id })
    }

    /// What a handler does: finds that the payload is that order, byte for byte, and adds up its items.
    pub(super) fn work(&self, id: &JobId, payload: &[u8], attempt: u32) -> Result<(), Fault> {
        let order = self.by_id.get(id).map(|&i| &self.all[i]).ok_or(Fault::Altered)?;
        if payload != order.line {
            return Err(Fault::Altered);
        }
        let line: Line<'_> = serde_json::from_slice(payload).map_err(|_| Fault::Altered)?;
        if line.items.iter().map(|item| item.qty * item.price).sum::<u64>() != line.total {
            return Err(Fault::Altered);
        }
        if order.fails_first && attempt == 1 {
            return Err(Fault::ByDesign(FAULTS[order.queue]));
        }
        Ok(())
    }
}

/// Why a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0}")]
    ByDesign(&'static str),
    #[error("the payload is not what was enqueued")]
    Altered,
}

fn order(line: &'static [u8], number: u32) -> Result<Order, String> {
    let read: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let queue = QUEUES.iter().position(|(status, _)| *status == read.status);
    let queue = queue.ok_or_else(|| format!("no queue for status {:?}", read.status))?;
    let id = JobId::parse(read.order).map_err(|error| error.to_string())?;
    Ok(Order { id, queue, status: QUEUES[queue].0, line, fails_first: number.is_multiple_of(FAULTY) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_ten_thousand_orders_for_every_queue_some_of_which_fail_first() {
        let orders = Orders::shipped().unwrap();
        assert_eq!((orders.all.len(), orders.by_id.len()), (10_000, 10_000));
        for queue in 0..QUEUES.len() {
            let of_queue: Vec<_> = orders.all.iter().filter(|order| order.queue == queue).collect();
            assert!(of_queue.len() > 1_000);
            assert!(of_queue.iter().any(|order| order.fails_first));
        }
        for order in &orders.all {
            let first = orders.work(&order.id, order.line, 1);
            assert_eq!(first.is_err(), order.fails_first, "{first:?}");
            assert_eq!(orders.work(&order.id, order.line, 2), Ok(()));
        }
    }

    #[test]
    fn a_payload_that_changed_on_its_way_is_found() {
        let orders = Orders::shipped().unwrap();
        let [first, second, ..] = &orders.all[..] else { panic!() };
        assert_eq!(orders.work(&first.id, second.line, 1), Err(Fault::Altered));
        assert_eq!(orders.work(&first.id, &first.line[1..], 1), Err(Fault::Altered));
        assert_eq!(orders.work(&JobId::parse("A-1").unwrap(), first.line, 1), Err(Fault::Altered));
    }
}
