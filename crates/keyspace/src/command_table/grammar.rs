//! The commands whose keys no key specification finds: their options have to be read.

use super::find::is_word;
use super::{Place, Unplaced, Use};
use alloc::vec::Vec;

/// A command with options that decide which arguments are keys. Each is read as a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// `SORT key … [STORE key]`; `BY` and `GET` name patterns, not keys.
    Sort,
    /// `MIGRATE host port key|"" … [KEYS key …]`.
    Migrate,
    /// `GEORADIUS key … [STORE key] [STOREDIST key]`, whose options begin here.
    GeoRadius { options: usize },
}

impl Grammar {
    /// Adds the keys that these arguments have.
    pub(super) fn find<A: AsRef<[u8]>>(self, args: &[A], places: &mut Vec<Place>) -> Result<(), Unplaced> {
        let read = |at| Place { at, used: Use::Read };
        match self {
            Grammar::Sort => {
                places.push(read(1));
                places.extend(sort_target(args));
            }
            Grammar::Migrate => migrated(args, places)?,
            Grammar::GeoRadius { options } => {
                places.push(read(1));
                places.extend(radius_target(args, options));
            }
        }
        Ok(())
    }
}

fn overwrite(at: usize) -> Place {
    Place { at, used: Use::Overwrite }
}

/// The last `STORE` counts.
fn sort_target<A: AsRef<[u8]>>(args: &[A]) -> Option<Place> {
    let mut target = None;
    let mut at = 2;
    while let Some(arg) = args.get(at) {
        let arg = arg.as_ref();
        at += if is_word(arg, "LIMIT") {
            3
        } else if is_word(arg, "GET") || is_word(arg, "BY") {
            2
        } else {
            if is_word(arg, "STORE") && at + 1 < args.len() {
                target = Some(overwrite(at + 1));
            }
            1
        };
    }
    target
}

/// The last of the options counts, whichever it is.
fn radius_target<A: AsRef<[u8]>>(args: &[A], options: usize) -> Option<Place> {
    let mut target = None;
    let mut at = options;
    while at + 1 < args.len() {
        let arg = args[at].as_ref();
        if is_word(arg, "STORE") || is_word(arg, "STOREDIST") {
            at += 1;
            target = Some(overwrite(at));
        }
        at += 1;
    }
    target
}

/// With `KEYS` the third argument is to be empty.
fn migrated<A: AsRef<[u8]>>(args: &[A], places: &mut Vec<Place>) -> Result<(), Unplaced> {
    let moved = |at| Place { at, used: Use::ReadWrite };
    let mut at = 6;
    while let Some(arg) = args.get(at) {
        let arg = arg.as_ref();
        if is_word(arg, "KEYS") {
            if !args[3].as_ref().is_empty() {
                return Err(Unplaced::two_lists(args, 3));
            }
            if at + 1 == args.len() {
                return Err(Unplaced::nothing_after(args, at));
            }
            places.extend((at + 1..args.len()).map(moved));
            return Ok(());
        }
        at += if is_word(arg, "AUTH") {
            2
        } else if is_word(arg, "AUTH2") {
            3
        } else {
            1
        };
    }
    places.push(moved(3));
    Ok(())
}
