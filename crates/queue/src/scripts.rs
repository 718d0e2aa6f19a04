//! The transitions' texts. One file each in `scripts/`; `store` has one function of the same name.

use std::sync::LazyLock;

use echomq_cluster::Script;

macro_rules! scripts {
    ($($constant:ident $file:literal),* $(,)?) => {
        $(pub(crate) static $constant: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!(concat!("scripts/", $file, ".lua"))));)*

        /// Every script by its file name.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &LazyLock<Script>)] = &[$(($file, &$constant)),*];
    };
}

scripts! {
    BOUND "bound",
    BURY "bury",
    CLAIM "claim",
    COMPLETE "complete",
    COUNTS "counts",
    DEFER "defer",
    ENQUEUE "enqueue",
    EXTEND "extend",
    FIND "find",
    GATE "gate",
    LIST "list",
    OPEN "open",
    PAUSE "pause",
    PROMOTE "promote",
    RECLAIM "reclaim",
    RELEASE "release",
    RESUME "resume",
    RETRY "retry",
}
