//! What an entry point demands of its arguments, as far as trial calls teach.
//!
//! The manifest does not say which sizes a program's types share. A call whose
//! sizes do not fit is refused before anything is computed, so it is cheap to
//! try: first with all sizes the same, then with one of them changed, then with
//! two. And a scalar may be a size, or the number of rounds of a loop: then the
//! time, or the result, grows with it.

mod scalars;
mod sizes;
#[cfg(test)]
mod tests;

use super::recipe::{Call, Recipe};
use super::strategy::{Limits, sample};
use super::tree::Input;
use futhark_manifest::ElemType;
use std::sync::Arc;

/// What a trial call showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The arguments had sizes that fit together, whatever came then.
    pub fits: bool,
    /// How long it took.
    pub seconds: f64,
    /// How many bytes of results came out.
    pub bytes: usize,
    /// It failed for want of memory, or took the context with it.
    pub costly: bool,
}

/// Learns what a call demands, and the calls in it. `trial` makes one call of
/// an entry point; its `None` ends the lesson.
///
/// # Errors
/// Why no arguments were found that are accepted.
pub fn learn(
    call: &Call,
    known: Option<&[Vec<usize>]>,
    trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
) -> Result<Call, String> {
    let arguments = call.arguments.iter();
    let arguments = arguments
        .map(|recipe| inner(recipe, trial))
        .collect::<Result<_, _>>()?;
    let call = Call {
        arguments,
        ..call.clone()
    };
    if call.entry.is_empty() {
        return Ok(call);
    }
    let mut lesson = Lesson::new(call, trial);
    lesson.sizes(known)?;
    lesson.scalars();
    Ok(lesson.call)
}

/// The longest extent within the limits with which a call takes at most so many
/// seconds.
pub fn affordable(
    call: &Call,
    limits: Limits,
    seconds: f64,
    trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
) -> usize {
    let limit = limits.extent;
    let mut extent = 5.min(limit);
    while extent < limit && call.variables() > 0 {
        let longer = (extent * 4).min(limit);
        let extents = call.extents(&vec![longer; call.variables()]);
        if call.largest(&extents) > limits.elements {
            // Only long and thin ones become longer, which are no more work.
            return limit;
        }
        let inputs = sample(call, &extents, &[]);
        let trial = inputs.and_then(|inputs| trial(&call.entry, &inputs));
        if trial.is_none_or(|trial| trial.costly || trial.seconds > seconds) {
            return extent;
        }
        extent = longer;
    }
    limit
}

/// The same recipe with calls that have learnt, without those that cannot.
fn inner(
    recipe: &Recipe,
    trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
) -> Result<Recipe, String> {
    let mut all = |parts: &[Recipe]| -> Result<Vec<Recipe>, String> {
        parts.iter().map(|part| inner(part, trial)).collect()
    };
    Ok(match recipe {
        Recipe::Scalar(..) | Recipe::Array(..) => recipe.clone(),
        Recipe::Record(parts) => Recipe::Record(all(parts)?),
        Recipe::Zip(parts) => Recipe::Zip(all(parts)?),
        Recipe::Sum(variants) => {
            let variants = variants.iter();
            let learnt = variants.map(|(name, payload)| Ok((name.clone(), all(payload)?)));
            Recipe::Sum(learnt.collect::<Result<_, String>>()?)
        }
        Recipe::Made(makers) => {
            let mut learnt = Vec::new();
            let mut why = String::new();
            for (call, output) in makers {
                match learn(call, None, trial) {
                    Ok(call) => learnt.push((Arc::new(call), *output)),
                    Err(reason) => why = reason,
                }
            }
            if learnt.is_empty() {
                return Err(why);
            }
            Recipe::Made(learnt)
        }
    })
}

/// One entry point being asked. Its sizes are its extents, in order, and then
/// its arguments of type i64, each of which may be a size, too.
struct Lesson<'a> {
    call: Call,
    trial: &'a mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
    /// The numbers of the scalars that may be sizes.
    candidates: Vec<usize>,
}

impl<'a> Lesson<'a> {
    fn new(call: Call, trial: &'a mut dyn FnMut(&str, &[Input]) -> Option<Trial>) -> Lesson<'a> {
        let scalars = call.scalars();
        let candidates =
            (0..scalars.len()).filter(|&number| scalars[number] == (ElemType::I64, true));
        Lesson {
            candidates: candidates.collect(),
            call,
            trial,
        }
    }
}
