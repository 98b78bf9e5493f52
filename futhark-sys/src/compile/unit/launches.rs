//! Checks the sizes that functions of GPU backends receive from the functions of the program, inside of these functions.

use futhark_manifest::Version;

use super::edits::Edits;
use crate::compile::error::Error;
use crate::compile::generated::statement::{Function, Kind};

/// The sizes of a launch, which the compiler declares as 32-bit numbers.
const LAUNCH: [&str; 7] = [
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "shared_bytes",
];

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
    for size in LAUNCH {
        let mut words = function.parameters.windows(3);
        let ty = words.find_map(|words| match *words {
            [unsigned @ "unsigned", int @ "int", name] if name == size => Some([unsigned, int]),
            _ => None,
        })?;
        edits.replace(ty[0], String::new());
        edits.replace(ty[1], "int64_t".to_owned());
    }
    let condition = "((((((grid_x * grid_y) * grid_z) * block_x) * block_y) * block_z) != 0)";
    let statements = function.statements().into_iter();
    let mut launches = statements.filter_map(|statement| match &statement.kind {
        Kind::If(own, _) if own.to_string() == condition => Some((statement.text, own.text)),
        _ => None,
    });
    let (statement, condition) = launches.next()?;
    let (sizes, are_there) = (LAUNCH.join(", "), LAUNCH[..6].join(" != 0 && "));
    let check = format!("if (fut_check_launch(ctx, {sizes}) != FUTHARK_SUCCESS)");
    edits.before(
        statement,
        &format!("{check}\n        return FUTHARK_PROGRAM_ERROR;"),
    );
    edits.replace(condition, format!("{are_there} != 0"));
    Some(())
}

fn fill<'a>(function: &Function<'a>, of_units: bool, edits: &mut Edits<'a>) -> Option<()> {
    let mut words = function.parameters.windows(2);
    let count = words.find_map(|words| (words[0] == "int64_t").then_some(words[1]))?;
    let first = function.body.iter().find(|statement| {
        matches!(
            statement.kind,
            Kind::Declare {
                ty: "int",
                name: "err",
                ..
            }
        )
    })?;
    edits.after(first.text, &format!("FUT_CHECK_COUNT({count})"));
    if of_units {
        edits.after(first.text, "goto cleanup;");
    }
    Some(())
}
