//! Lists of words in messages.

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
