//! Layout of generated code, and escaping of text from the program.

use std::fmt::Write as _;

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

/// Writes the author's documentation as a text block, so that nothing in it becomes a link or a
/// doctest.
pub(super) fn author_doc(text: &mut String, indent: usize, doc: Option<&str>) {
    let Some(doc) = doc else { return };
    let pad = " ".repeat(indent);
    let _ = writeln!(text, "{pad}/// ```text");
    for line in doc.lines() {
        let line = inert(line).replace("```", "'''");
        let _ = writeln!(text, "{pad}/// {}", line.trim_end());
    }
    let _ = writeln!(text, "{pad}/// ```\n{pad}///");
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
