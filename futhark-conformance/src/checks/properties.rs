//! Part of the check `blocks`: properties in test blocks, which `futhark test` knows since 0.26.3. These are
//! entry points that must return `true` for every argument.
//!
//! ```text
//! -- ==
//! -- property: sorted_has_the_same_length
//!
//! #[prop(gen(numbers), size(20))]
//! entry sorted_has_the_same_length (xs: []i32) : bool = ...
//! ```

use crate::compare::Within;
use crate::harness::cases::{CheckResult, Stop, error};
use crate::harness::content::{Content, Reading};
use crate::harness::env::Env;
use crate::harness::session::{self, CallResult, Implementation, Side, Sides};
use crate::inputs::{Input, Refusal};
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, TypeRef};
use futhark_safe::compile::lexer;
use std::time::Instant;

/// The size of generated arguments, unless the attribute has one; that of `futhark test`.
const SIZE: i64 = 50;

/// The number of arguments, unless the user chose one: on most devices, and on slow ones. There are fewer if
/// the calls take long.
const CASES: u32 = 100;
const CASES_IF_SLOW: u32 = 8;

/// Calls a property with generated arguments.
pub fn check(env: &Env<'_>, name: &str) -> CheckResult {
    let program = env.program();
    let property = program
        .entry(name)
        .ok_or_else(|| Stop::error(format!("the program has no entry point {name:?}")))?;
    let is_property = matches!(
        (&property.inputs[..], &property.outputs[..]),
        ([_], [output]) if output.ty == TypeRef::Scalar(ElemType::Bool)
    );
    if !is_property {
        let message = "expected a property of type `t -> bool`, got another type";
        return Err(Stop::error(message));
    }
    let side = Side::tested(env, Reading::Parts);
    let sides = Sides {
        env,
        tested: &side,
        oracle: &Holds(&side),
        names: ("the property", "a property that holds"),
        store: &env.store("properties"),
        cases: env.cases().unwrap_or(match env.device().is_slow() {
            true => CASES_IF_SLOW,
            false => CASES,
        }),
        within: Within::Bits,
        ignores_overflow: false,
    };
    let attribute = Attribute::find(&std::fs::read_to_string(env.source)?, name);
    let Some(generator) = attribute.generator else {
        return session::compare(&sides, property, None);
    };
    let generator = program.entry(&generator).ok_or_else(|| {
        Stop::error(format!(
            "the generator {generator:?} of {name} is not an entry point"
        ))
    })?;
    let mut random = env.random(name);
    let begun = Instant::now();
    for number in 0..sides.cases {
        if number > 0 && begun.elapsed() > env.time() {
            let text = format!("{number} of {} arguments: calls are slow", sides.cases);
            env.remark.add(&text);
            break;
        }
        let made = Input::Made {
            entry: generator.name.clone(),
            output: 0,
            arguments: arguments(generator, property, [attribute.size, random.i64(..)])?,
        };
        session::compare(&sides, property, Some(vec![made]))?;
    }
    Ok(())
}

/// The size and the seed, in the types of the generator's parameters.
fn arguments(
    generator: &EntryPoint,
    property: &EntryPoint,
    numbers: [i64; 2],
) -> CheckResult<Vec<Input>> {
    let types: Vec<TypeRef> = generator.inputs.iter().map(|input| input.ty).collect();
    let fits = generator.outputs.first().map(|output| output.ty) == Some(property.inputs[0].ty);
    match types[..] {
        [TypeRef::Scalar(size), TypeRef::Scalar(seed)] if fits => Ok([size, seed]
            .into_iter()
            .zip(numbers)
            .map(|(elem, number)| Input::Host(HostValue::of_bits(elem, &[], [number as u64])))
            .collect()),
        _ => error!(
            "expected a generator {} of type `(size: i64) -> (seed: i64) -> t` for {}, got another type",
            generator.name, property.name
        ),
    }
}

/// What the attribute `#[prop]` of an entry point says.
struct Attribute {
    generator: Option<String>,
    size: i64,
}

impl Attribute {
    /// The attribute in the source of the program. An entry point without one, or of an imported file, has no
    /// generator.
    fn find(source: &str, name: &str) -> Attribute {
        let mut tokens = lexer::code(source).map(|token| token.text);
        // Those of the next declaration.
        let mut attributes = Vec::new();
        while let Some(text) = tokens.next() {
            if text == "#[" {
                attributes.extend(tokens.by_ref().take_while(|&text| text != "]"));
            } else if text == "entry" && tokens.next() == Some(name) {
                break;
            } else {
                attributes.clear();
            }
        }
        let argument = |of: &str| {
            let at = attributes.windows(2).position(|pair| pair == [of, "("])?;
            let argument = attributes[at + 2..].iter().take_while(|&&text| text != ")");
            Some(argument.copied().collect::<String>())
        };
        let size = argument("size").and_then(|size| size.replace('_', "").parse().ok());
        Attribute {
            generator: argument("gen"),
            size: size.unwrap_or(SIZE),
        }
    }
}

/// Expects that a property holds, unless the sizes within its argument do not fit each other.
struct Holds<'a>(&'a Side<'a>);

impl Implementation for Holds<'_> {
    fn call_entry(&self, entry: &str, arguments: &[Input]) -> CheckResult<CallResult> {
        let outcome = self.0.call_entry(entry, arguments)?;
        match &outcome {
            Err(Refusal::Unfit) => return Ok(outcome),
            Err(Refusal::Error { message, .. }) if message.contains("invalid sizes") => {
                return Ok(outcome);
            }
            _ => {}
        }
        let holds = HostValue::of_bits(ElemType::Bool, &[], [1]);
        Ok(Ok(vec![Content::Host(holds)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_from_the_source() {
        let source = "#[prop]\nentry plain (x: i32) : bool = true\n\
                      #[prop(gen(numbers),shrink(less))] entry made xs = true\n\
                      #[noinline]\n#[prop(size(1_000), gen( g' ))]\nentry made' [n] (xs: [n]i32) = true\n\
                      entry without (x: i32) = true\n\
                      -- #[prop(size(1))] entry plain\n-- #[prop(gen(old))]\nentry kept (x: i32) = true\n\
                      #[prop(size(7))] -- entry plain\n#[noinline] entry last=true\n";
        let of = |name| {
            let attribute = Attribute::find(source, name);
            (attribute.generator, attribute.size)
        };
        assert_eq!(of("plain"), (None, SIZE));
        assert_eq!(of("made"), (Some("numbers".into()), SIZE));
        assert_eq!(of("made'"), (Some("g'".into()), 1000));
        assert_eq!(of("without"), (None, SIZE));
        assert_eq!(of("nowhere"), (None, SIZE));
        assert_eq!(of("kept"), (None, SIZE), "a comment");
        assert_eq!(of("last"), (None, 7));
    }
}
