//! Documentation in generated code.

use std::fmt::Write as _;

/// Lines of documentation as a comment in an `impl`.
pub(super) fn comment(docs: &str) -> String {
    let lines = docs.lines().map(|line| format!("    /// {line}"));
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// The author's documentation as paragraphs, lists and code in backquotes, before further lines. Nothing else in it
/// has a meaning in Markdown, so that it contains no link and no doctest.
pub(super) fn author_doc(doc: Option<&str>) -> String {
    let lines = doc.into_iter().flat_map(|doc| doc.lines().chain([""]));
    lines
        .map(|line| paragraph_line(inert(line).trim()) + "\n")
        .collect()
}

fn paragraph_line(line: &str) -> String {
    let (bullet, line) = match line.split_at_checked(2) {
        Some((bullet @ ("- " | "* "), rest)) => (bullet, rest.trim_start()),
        _ => ("", line),
    };
    // Backquotes in pairs; what is between them is code.
    let has_code = line.matches('`').count() % 2 == 0 && !line.contains("``");
    let parts = line.split('`').enumerate();
    let parts = parts.map(|(i, part)| match has_code && i % 2 == 1 {
        true => part.to_owned(),
        false => escaped(part, bullet.is_empty() && i == 0),
    });
    let quote = if has_code { "`" } else { "\\`" };
    format!("{bullet}{}", parts.collect::<Vec<_>>().join(quote))
}

fn escaped(text: &str, starts_line: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (i, word) in text.split(' ').enumerate() {
        if i > 0 {
            escaped.push(' ');
        }
        if word.starts_with("https://") || word.starts_with("http://") {
            let word = word.replace(['<', '>'], "");
            let address = word.trim_end_matches(['.', ',', ';', ':', ')']);
            let _ = write!(escaped, "<{address}>{}", &word[address.len()..]);
            continue;
        }
        for (at, c) in word.char_indices() {
            let starts = starts_line && i == 0 && at == 0 && "-+=".contains(c);
            if starts || "\\*_[]<>#|~&".contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
    }
    escaped
}

/// Text of the program in backquotes, for documentation.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", inert(text).replace('`', "'"))
}

/// Replaces characters that end a line or change the text direction: the Rust compiler rejects
/// them in comments.
fn inert(text: &str) -> String {
    let harmless = |c: char| match c {
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::{author_doc, comment};

    #[test]
    fn comments_of_the_program_become_paragraphs() {
        let doc = "The mean of `xs`, see https://example.org/a_b.\n\n    indented [link] *x* <b>\n- one_a\n--- \n```\nassert!(false)\n# h";
        assert_eq!(
            comment(&author_doc(Some(doc))).replace("    ///", "///"),
            "/// The mean of `xs`, see <https://example.org/a_b>.\n///\n/// indented \\[link\\] \\*x\\* \\<b\\>\n\
             /// - one\\_a\n/// \\---\n/// \\`\\`\\`\n/// assert!(false)\n/// \\# h\n///\n"
        );
    }
}
