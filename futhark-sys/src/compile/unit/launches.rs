//! Checks the sizes that functions of GPU backends receive from the functions of the program, inside of these functions.

use futhark_manifest::Version;

use super::edits::Edits;
use crate::compile::error::Error;
use crate::compile::generated::statement::{Function, Kind};

/// The sizes of a launch, which the compiler declares as 32-bit numbers.
const LAUNCH: &str = "grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes";

/// Changes `gpu_kernel_f(ctx, grid_x, …, block_x, …, shared_bytes, …)`, which launches a kernel, and
/// `futrts_builtinzhreplicate_i32(ctx, mem, count, value)` and the like, which fill an array.
pub(super) fn write<'a>(
    function: &Function<'a>,
    version: &Version,
    edits: &mut Edits<'a>,
) -> Result<(), Error> {
    let known = match function.name.strip_prefix("futrts_builtinzh") {
        Some(fill) => self::fill(function, fill == "replicate_unit", edits),
        None if function.name.starts_with("gpu_kernel_") => launch(function, edits),
        None => Some(()),
    };
    let why = "its sizes are not in the known form";
    known.ok_or_else(|| Error::unsupported(version, function.name, why))
}

fn launch<'a>(function: &Function<'a>, edits: &mut Edits<'a>) -> Option<()> {
    let words = function.parameters.windows(3);
    let sizes = words.filter(|words| words[..2] == ["unsigned", "int"]);
    let names = Vec::from_iter(sizes.clone().map(|words| words[2]));
    if names.join(", ") != LAUNCH {
        return None;
    }
    for words in sizes {
        edits.replace(words[0], String::new());
        edits.replace(words[1], "int64_t".to_owned());
    }
    let product = "((((((grid_x * grid_y) * grid_z) * block_x) * block_y) * block_z) != 0)";
    let mut body = function.body.iter();
    let (statement, condition) = body.find_map(|statement| match &statement.kind {
        Kind::If(condition, _) if condition.to_string() == product => Some((statement, condition)),
        _ => None,
    })?;
    let check = format!(
        "if (fut_check_launch(ctx, {LAUNCH}) != FUTHARK_SUCCESS)\n        return FUTHARK_PROGRAM_ERROR;"
    );
    edits.before(statement.text, &check);
    let launches = names[..6].join(" != 0 && ");
    edits.replace(condition.text, format!("{launches} != 0"));
    Some(())
}

fn fill<'a>(function: &Function<'a>, of_units: bool, edits: &mut Edits<'a>) -> Option<()> {
    let mut words = function.parameters.windows(2);
    let count = words.find(|words| words[0] == "int64_t")?[1];
    let mut body = function.body.iter();
    let is_error = |(name, _, _)| name == "err";
    let first = body.find(|statement| statement.set().is_some_and(is_error))?;
    edits.after(first.text, &format!("FUT_CHECK_COUNT({count})"));
    if of_units {
        edits.after(first.text, "goto cleanup;");
    }
    Some(())
}
