//! The hash tag: which bytes of a key are hashed.

/// The bytes of `key` that are hashed: the span between the first `{` and the next `}` after it, when that span is not
/// empty; otherwise the whole key.
///
/// ```
/// use echomq_keyspace::hash_tag;
///
/// assert_eq!(hash_tag(b"emq:{orders}:pending"), b"orders");
/// assert_eq!(hash_tag(b"foo{{bar}}zap"), b"{bar");
/// assert_eq!(hash_tag(b"foo{}{bar}"), b"foo{}{bar}");
/// assert_eq!(hash_tag(b"emq:{orders"), b"emq:{orders");
/// ```
pub const fn hash_tag(key: &[u8]) -> &[u8] {
    match span(key) {
        Some((open, close)) if close > open + 1 => key.split_at(close).0.split_at(open + 1).1,
        _ => key,
    }
}

/// Where the first `{` and the next `}` after it stand, when both are there.
const fn span(key: &[u8]) -> Option<(usize, usize)> {
    match find(key, 0, b'{') {
        Some(open) => match find(key, open + 1, b'}') {
            Some(close) => Some((open, close)),
            None => None,
        },
        None => None,
    }
}

/// The first place of `needle` in `bytes` at or after `from`.
const fn find(bytes: &[u8], from: usize, needle: u8) -> Option<usize> {
    let mut i = from;
    while i < bytes.len() {
        if bytes[i] == needle {
            return Some(i);
        }
        i += 1;
    }
    None
}
