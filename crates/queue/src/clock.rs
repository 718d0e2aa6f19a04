//! Whose clock decides. The server's, always; only a test may put another in its place.

/// What scripts get as `now`: nothing, so that they ask the server, or a time that a test has set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    #[cfg(any(test, feature = "testing"))]
    fixed_ms: Option<std::sync::Arc<std::sync::atomic::AtomicU64>>,
}

impl Clock {
    #[cfg(not(any(test, feature = "testing")))]
    pub(crate) fn argument(&self) -> &'static str {
        ""
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn argument(&self) -> String {
        let fixed = self.fixed_ms.as_ref().map(|ms| ms.load(std::sync::atomic::Ordering::SeqCst));
        fixed.map(|ms| ms.to_string()).unwrap_or_default()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn fixed(ms: std::sync::Arc<std::sync::atomic::AtomicU64>) -> Clock {
        Clock { fixed_ms: Some(ms) }
    }
}
