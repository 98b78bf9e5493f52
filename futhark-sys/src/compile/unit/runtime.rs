//! Checks the sizes that functions of the runtime receive, inside of these functions, and replaces
//! arithmetic of the runtime that cuts sizes to 32 bits.

use super::edits::Edits;

/// Lines that cut sizes to 32 bits, divide by a setting, ask the user, or write invalid JSON, and those that do not.
const CUTS: [(&str, &str); 9] = [
    // Whether a copy is a transposition, and of which size.
    ("    int n = 1, m = 1;", "    int64_t n = 1, m = 1;"),
    // A general copy on the host.
    (
        "      for (int i = 0; i < shape[0]; i++) {",
        "      for (int64_t i = 0; i < shape[0]; i++) {",
    ),
    // A transposition on the host.
    ("  int32_t r = re - rb;", "  int64_t r = re - rb;"),
    ("  int32_t c = ce - cb;", "  int64_t c = ce - cb;"),
    // Transpositions and general copies on a GPU, whose grid is an array of 32-bit numbers.
    (
        "  int64_t mulx = TR_BLOCK_DIM / n;",
        "  if (fut_check_launch(ctx, (m - 1) / TR_TILE_DIM + 1, (n - 1) / TR_TILE_DIM + 1, k, 1, 1, 1, 0) != FUTHARK_SUCCESS)\n    \
             return FUTHARK_PROGRAM_ERROR;\n  int64_t mulx = TR_BLOCK_DIM / n;",
    ),
    (
        "  const size_t w = 256; // XXX: hardcoded thread block size.",
        "  const size_t w = 256;\n  \
           if (fut_check_launch(ctx, (n - 1) / 256 + 1, 1, 1, 256, 1, 1, 0) != FUTHARK_SUCCESS)\n    \
             return FUTHARK_PROGRAM_ERROR;",
    ),
    // A question to the user, on Windows.
    (
        "  fprintf(stderr, \"Found %d cores on your Windows machine\\n Is that correct?\\n\", ncores);",
        "",
    ),
    // A path in a report.
    (
        "      str_builder_char(sb, c);",
        "      if ((unsigned char)c < ' ' || c == '\\\\')\n        str_builder(sb, \"\\\\u%04x\", c);\n      else\n        str_builder_char(sb, c);",
    ),
    // A user can set it to 0.
    (
        " / cfg->gpu.default_block_size;",
        " / (cfg->gpu.default_block_size > 0 ? cfg->gpu.default_block_size : 1);",
    ),
];

/// The ends of lines that divide integers, unchecked and checked.
const DIVISIONS: [(&str, &str); 4] = [
    ("? 0 : x / y;", "? 0 : x / FUT_SAFE_DIVISOR(x, y);"),
    ("? 0 : x % y;", "? 0 : x % FUT_SAFE_DIVISOR(x, y);"),
    (" / y;", " / FUT_DIVISOR(x, y);"),
    (" % y;", " % FUT_DIVISOR(x, y);"),
];

/// Whether a function begins on the line that can divide integers, as `SCALAR_FUN_ATTR int64_t sdiv64(int64_t x, int64_t y) {`.
pub(super) fn divides(line: &str) -> bool {
    line.starts_with("SCALAR_FUN_ATTR ") && line.contains("_t x, ") && line.contains("_t y)")
}

/// The line without cuts, with checked divisions if it `divides`, and with our functions that start parallel loops,
/// if it changes.
pub(super) fn replaced(line: &str, divides: bool) -> Option<String> {
    let divisions = if divides { &DIVISIONS[..] } else { &[] };
    let mut all = CUTS.iter().chain(divisions);
    let changed = all
        .find(|(from, _)| line.contains(from))
        .map(|(from, to)| line.replacen(from, to, 1));
    let head = line.split_once('(').map_or("", |(head, _)| head);
    let names_division = ["div", "mod", "quot", "rem"]
        .iter()
        .any(|name| head.contains(name));
    if divides && names_division && line.starts_with("SCALAR_FUN_ATTR ") {
        // gcc inlines a function with a comparison too late to unroll the loop around it.
        let line = changed.as_deref().unwrap_or(line);
        return Some(format!("__attribute__((always_inline)) {line}"));
    }
    if INLINED.iter().any(|name| head.ends_with(name)) && !line.starts_with(' ') {
        return Some(format!("__attribute__((noinline)) {line}"));
    }
    changed
}

/// Functions of the runtime that gcc inlines in all places that call them, which takes a tenth of the time of a build.
const INLINED: [&str; 4] = [
    " str_builder_str",
    " str_builder_char",
    " memblock_unref",
    " memblock_set",
];

/// Changes the runtime.
pub(super) fn write<'a>(text: &'a str, edits: &mut Edits<'a>) {
    let mut is_division = false;
    for line in text.lines() {
        if !line.starts_with(' ') {
            is_division = divides(line);
        }
        if let Some(changed) = replaced(line, is_division) {
            edits.replace(line, changed);
        }
    }
}
