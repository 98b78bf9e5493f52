//! Changes that must be refused: in the runtime, and statements that the compiler does not write.

use std::collections::BTreeSet;

use crate::Random;
use crate::pieces::{File, Function, Kind};

/// Changes one token of a section of the runtime. The second value describes the change.
pub fn runtime_token(file: &File<'_>, random: &mut Random) -> Option<(String, String)> {
    let section = random.pick(&file.sections)?;
    let tokens: Vec<usize> = (section.body.clone())
        .filter(|&i| file.pieces[i].is_token())
        .collect();
    let at = *random.pick(&tokens)?;
    let piece = file.pieces[at];
    let new = match piece.kind {
        Kind::Word if piece.is_number() => format!("{}1", piece.text),
        Kind::Word => format!("{}_", piece.text),
        Kind::Literal if piece.text.len() > 2 => {
            let (quote, rest) = piece.text.split_at(1);
            format!("{quote}x{rest}")
        }
        Kind::Directive => format!("{} + 1", piece.text),
        _ => other_operator(piece.text).to_owned(),
    };
    let what = format!("{}: `{}` became `{new}`", section.name, piece.text);
    let mut texts = file.texts();
    texts[at] = new;
    Some((texts.concat(), what))
}

fn other_operator(operator: &str) -> &str {
    match operator {
        "+" => "-",
        "-" | "/" => "+",
        "*" => "+",
        "<" => "<=",
        "<=" => "<",
        ">" => ">=",
        ">=" => ">",
        "==" => "!=",
        "!=" => "==",
        "&&" => "||",
        "||" => "&&",
        "->" => ".",
        "++" => "--",
        "+=" => "-=",
        ";" => ";;",
        _ => "",
    }
}

/// Drops a comment of the runtime or changes white space in it.
pub fn runtime_blank(file: &File<'_>, random: &mut Random) -> Option<(String, String)> {
    let section = random.pick(&file.sections)?;
    let wanted = if random.one_in(2) {
        Kind::Comment
    } else {
        Kind::Space
    };
    // The markers are comments, too.
    let whole = section.body.start - 1..section.body.end + 1;
    let blanks: Vec<usize> = whole.filter(|&i| file.pieces[i].kind == wanted).collect();
    let at = *random.pick(&blanks)?;
    let mut texts = file.texts();
    texts[at] = match wanted {
        Kind::Comment => String::new(),
        _ => format!("{0}{0}", texts[at]),
    };
    let what = format!("{}: `{}`", section.name, file.pieces[at].text);
    Some((texts.concat(), what))
}

/// What kind of unknown statement.
#[derive(Clone, Copy)]
pub enum Unknown {
    /// Assignments in a known form, whose size must be computed again.
    Assignment,
    Operator,
    Address,
    Call,
    Assembly,
    Control,
    Expression,
    Declaration,
    Directive,
}

impl Unknown {
    /// The statements; `$` stands for a size.
    fn statements(self) -> &'static [&'static str] {
        match self {
            Unknown::Assignment => &[
                "$ += 1;",
                "$ *= 2;",
                "$ -= 1;",
                "$ = 1 - $;",
                "$ = mul64($, $);",
            ],
            Unknown::Operator => &[
                "$ <<= 2;",
                "$ >>= 1;",
                "$ ^= 1;",
                "$ |= 4096;",
                "$ &= 7;",
                "$ %= 3;",
                "$++;",
                "--$;",
                "$ = $ << 2;",
            ],
            Unknown::Address => &[
                "*&$ = -1;",
                "*(&$) = -1;",
                "int64_t *place_of_size = &$;\n    *place_of_size = -1;",
                "(&$)[0] = -1;",
                "((int64_t *) &$)[0] = -1;",
                "memset(&$, 255, sizeof($));",
                "change_size(ctx, &$);",
            ],
            Unknown::Call => &[
                "$ = other_size($);",
                "other_function(ctx, $);",
                "alloca($);",
                "void *other_block = malloc($);",
                "ctx->other_function($);",
                "(*other_function)($);",
                "(other_function)($);",
            ],
            Unknown::Assembly => &[
                "__asm__ volatile (\"\" : \"+r\" ($));",
                "asm(\"neg %0\" : \"+r\" ($));",
                "__asm__ goto (\"\" : : : : cleanup);",
            ],
            Unknown::Control => &[
                "goto other_label;\n  other_label:\n    $ = -1;",
                "switch ($) {\n    default:\n        $ = -1;\n    }",
                "do {\n        $ = -1;\n    } while (0);",
                "goto *ctx->other_label;",
            ],
            Unknown::Expression => &[
                "({ $ = -1; });",
                "$ = ({ int64_t inner_1 = -1; inner_1; });",
                "$ = (err, -1);",
                "err = 0, $ = -1;",
                "err = ($ = -1) != -1;",
                "int64_t both_1 = $ = -1;",
            ],
            Unknown::Declaration => &[
                "int64_t other_array[$];",
                "union {\n        int64_t a;\n    } other_union = {$};",
                "__typeof__($) other_1 = $;",
                "static int64_t other_1 = 0;",
                "register int64_t other_1 __asm__(\"rax\") = $;",
                "int other_function(int64_t a) { return a; }",
            ],
            Unknown::Directive => &[
                "\n#define FUT_CHECK_COUNT(count)\n",
                "\n#undef fut_times\n",
                "\n#include \"other.h\"\n",
                "\n#pragma omp parallel\n",
                "_Pragma(\"once\")",
            ],
        }
    }
}

/// A changed text.
pub struct Change {
    pub text: String,
    pub what: String,
    /// The size that it concerns, if it does.
    pub size: String,
}

/// Inserts an unknown statement with a size after its definition. `sizes`: pairs of a function and a size of it.
pub fn statement(
    file: &File<'_>,
    sizes: &BTreeSet<(String, String)>,
    unknown: Unknown,
    random: &mut Random,
) -> Option<Change> {
    let mut places = Vec::new();
    for function in &file.functions {
        for i in function.body.clone() {
            let (name, previous) = (file.pieces[i].text, file.previous(i));
            if !is_size(sizes, function, name) || file.text(file.next(i)) != "=" {
                continue;
            }
            let first = match file.text(previous) {
                "int64_t" => previous.and_then(|previous| file.previous(previous)),
                _ => previous,
            };
            let ends = (i..function.body.end).find(|&at| file.pieces[at].text == ";");
            if [";", "{", "}"].contains(&file.text(first))
                && let Some(end) = ends
            {
                places.push((function.name, name, end));
            }
        }
    }
    let (function, size, end) = *random.pick(&places)?;
    let statement = random.pick(unknown.statements())?.replace('$', size);
    let mut texts = file.texts();
    texts[end] += &format!("\n    {statement}");
    Some(Change {
        text: texts.concat(),
        what: format!("`{statement}` in {function}"),
        size: size.to_owned(),
    })
}

fn is_size(sizes: &BTreeSet<(String, String)>, function: &Function<'_>, name: &str) -> bool {
    sizes.contains(&(function.name.to_owned(), name.to_owned()))
}

/// Functions that get sizes, and others with the same parameters.
const RECEIVERS: [(&str, &str); 6] = [
    ("memblock_alloc", "memblock_take"),
    ("memblock_alloc_device", "memblock_take_device"),
    ("lexical_realloc", "lexical_grow"),
    ("lmad_copy_", "lmad_move_"),
    ("scheduler_prepare_task", "scheduler_start_task"),
    ("scheduler_execute_task", "scheduler_run_task"),
];

/// Changes a part of a statement so that it has a form that the compiler does not write.
pub fn changed_form(
    file: &File<'_>,
    sizes: &BTreeSet<(String, String)>,
    random: &mut Random,
) -> Option<(String, String)> {
    let is_program = |name: &str| name.starts_with("futrts_") || name.starts_with("futhark_mc_");
    let mut edits: [Vec<(usize, String)>; 3] = Default::default();
    for function in (file.functions.iter()).filter(|function| is_program(function.name)) {
        for i in function.body.clone().filter(|&i| file.pieces[i].is_token()) {
            let (text, next) = (file.pieces[i].text, file.next(i));
            if text == "int64_t" && is_size(sizes, function, file.text(next)) {
                let ty = random.pick(&["int", "size_t", "uint32_t", "ptrdiff_t"])?;
                edits[0].push((i, (*ty).to_owned()));
            }
            for (from, to) in RECEIVERS {
                if let Some(rest) = text.strip_prefix(from)
                    && (rest.is_empty() || from.ends_with('_'))
                {
                    edits[1].push((i, format!("{to}{rest}")));
                }
            }
            let is_loop = text == "for" && file.text(next) == "(";
            if is_loop && let Some(end) = next.and_then(|open| file.close(open)) {
                let (from, to) =
                    random.pick(&[("<", "<="), ("<", "!="), ("++", " += 2"), ("++", "--")])?;
                let at = (i..end).find(|&at| file.pieces[at].text == *from);
                edits[2].extend(at.map(|at| (at, (*to).to_owned())));
            }
        }
    }
    let first = random.below(3);
    let edits = (first..first + 3).find_map(|kind| random.pick(&edits[kind % 3]))?;
    let mut texts = file.texts();
    let what = format!("`{}` became `{}`", texts[edits.0], edits.1);
    texts[edits.0] = edits.1.clone();
    Some((texts.concat(), what))
}
