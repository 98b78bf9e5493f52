//! Lists of words in messages.

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed() {
        assert_eq!(alternatives(&[]), "");
        assert_eq!(alternatives(&["a"]), "a");
        assert_eq!(alternatives(&["a", "b"]), "a or b");
        assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
    }
}
