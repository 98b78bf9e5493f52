//! Finds the constraints of an entry point on its arguments by trial calls.
//!
//! The manifest does not say which sizes must be equal. A call with wrong sizes fails before it
//! computes anything, so trials are cheap: first with all sizes equal, then with one changed, then
//! with two. A scalar may be a size, or the number of iterations of a loop: then the time or the
//! size of the result grows with it.

mod scalars;
mod sizes;
#[cfg(test)]
mod tests;

use super::recipe::{Call, Recipe};
use super::tree::Input;
use futhark_manifest::ElemType;
use std::sync::Arc;

/// The outcome of a trial call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Whether the sizes were valid, even if the call failed later.
    pub fits: bool,
    /// The duration.
    pub seconds: f64,
    /// The size of the results in bytes.
    pub bytes: usize,
    /// Whether it ran out of memory, or lost the context.
    pub costly: bool,
}

/// Finds the constraints of a call and of nested calls. `trial` makes one call of an entry point;
/// `None` from it ends the search.
///
/// # Errors
/// Why no valid arguments were found.
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

/// Replaces nested calls by those with known constraints, and removes the others.
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

/// The search for one entry point. Its sizes are its extents, in order, and then its arguments of
/// type i64, each of which may be a size.
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
