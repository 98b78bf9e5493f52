//! Layout of generated code, and escaping of text from the program.

use std::fmt::Write as _;

/// An expression with a list: its beginning, items and end.
pub(super) type Expression = (String, Vec<String>, &'static str);

/// Longer lines are broken.
const WIDTH: usize = 100;

/// Writes the head of a function and its opening brace.
pub(super) fn open(text: &mut String, head: &str, parameters: &[String], result: &str) {
    let one = format!(
        "    {head}({}) -> Result<{result}> {{",
        parameters.join(", ")
    );
    if one.len() <= WIDTH {
        let _ = writeln!(text, "{one}");
        return;
    }
    let _ = writeln!(text, "    {head}(");
    for parameter in parameters {
        let _ = writeln!(text, "        {parameter},");
    }
    let _ = writeln!(text, "    ) -> Result<{result}> {{");
}

/// Writes `before`, a list with commas, and `after`: on one line if that fits.
pub(super) fn list(text: &mut String, indent: usize, before: &str, items: &[String], after: &str) {
    let pad = " ".repeat(indent);
    let one = format!("{pad}{before}{}{after}", items.join(", "));
    if one.len() <= WIDTH {
        let _ = writeln!(text, "{one}");
        return;
    }
    let _ = writeln!(text, "{pad}{}", before.trim_end());
    for item in items {
        let _ = writeln!(text, "{pad}    {item},");
    }
    let after = after.trim_start_matches([' ', ',']);
    let _ = writeln!(text, "{pad}{after}");
}

/// Writes the author's documentation as paragraphs, lists and code in backquotes. Nothing else in it has a
/// meaning in Markdown, so that it contains no link and no doctest.
pub(super) fn author_doc(text: &mut String, indent: usize, doc: Option<&str>) {
    let Some(doc) = doc else { return };
    let pad = " ".repeat(indent);
    for line in doc.lines() {
        let line = format!("{pad}/// {}", paragraph_line(inert(line).trim()));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "{pad}///");
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

/// `()`, `A`, or `(A, B)`.
pub(super) fn tuple(items: &[String]) -> String {
    match items {
        [one] => one.clone(),
        _ => format!("({})", items.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::author_doc;

    #[test]
    fn comments_of_the_program_become_paragraphs() {
        let doc = "The mean of `xs`, see https://example.org/a_b.\n\n    indented [link] *x* <b>\n- one_a\n--- \n```\nassert!(false)\n# h";
        let mut text = String::new();
        author_doc(&mut text, 0, Some(doc));
        assert_eq!(
            text,
            "/// The mean of `xs`, see <https://example.org/a_b>.\n///\n/// indented \\[link\\] \\*x\\* \\<b\\>\n\
             /// - one\\_a\n/// \\---\n/// \\`\\`\\`\n/// assert!(false)\n/// \\# h\n///\n"
        );
    }
}
