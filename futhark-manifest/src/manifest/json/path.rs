//! The path to a JSON value, which allocates only when an error needs it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A place in a JSON text: a chain of steps on the stack. Its `Display` is the
/// JSON pointer (RFC 6901).
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(parent, key) => write!(f, "{parent}/{}", escape(key)),
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

/// A name as a segment of a JSON pointer.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        // Tildes first: otherwise those from slashes would be escaped again.
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Orders pointers by place: members by name, items by number.
pub(crate) fn compare_pointers(a: &str, b: &str) -> Ordering {
    fn segments(pointer: &str) -> impl Iterator<Item = Result<usize, &str>> {
        let segments = pointer.split('/');
        segments.map(|segment| segment.parse().map_err(|_| segment))
    }
    // Segments such as `1` and `01` compare as equal.
    segments(a).cmp(segments(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_escape_tilde_and_slash() {
        let root = Path::Root;
        assert_eq!(root.to_string(), "");
        let types = root.key("types");
        let name = types.key("a/b~1");
        let field = name.index(3);
        assert_eq!(field.to_string(), "/types/a~1b~01/3");
        assert_eq!(root.key("").to_string(), "/");
    }
}
