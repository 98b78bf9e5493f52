//! One trial: makes an argument in one way, consumes it, and compares the held values.

use super::way::Way;
use crate::harness::calls;
use crate::harness::env::Env;
use crate::harness::snapshot::{Held, Snapshot};
use crate::harness::steps::{StepResult, Stop};
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};

/// One parameter of one entry point, in one context.
pub(super) struct Trial<'a> {
    pub(super) env: &'a Env<'a>,
    pub(super) context: &'a Context,
    pub(super) entry: &'a EntryPoint,
    pub(super) place: usize,
}

impl Trial<'_> {
    /// Makes the argument in this way, and consumes it.
    pub(super) fn run(&self, way: &Way<'_>) -> StepResult {
        if let Way::Twice(other) = *way {
            return self.twice(other);
        }
        let program = self.env.program();
        let ty = self.entry.inputs[self.place].ty;
        let mut held = Held::new(program);
        // Earlier results must keep their contents, too. This call also shows whether the entry
        // point accepts the arguments.
        let earlier = self.call(self.arguments()?);
        let earlier = earlier.map_err(|error| {
            Stop::skip(format!(
                "the entry point accepts no known arguments: {error}"
            ))
        })?;
        for (value, output) in earlier.into_iter().zip(&self.entry.outputs) {
            held.hold("the result of an earlier call", output.ty, value)?;
        }
        // A constant of the program must have the same contents after the consuming call.
        let constant = self.constant(way)?;
        let mut arguments = self.arguments()?;
        let fresh = arguments.remove(self.place);
        let consumed = self.make(way, ty, fresh, &mut held)?;
        arguments.insert(self.place, consumed);
        self.consume(arguments, &mut held)?;
        held.check()?;
        match (constant, self.constant(way)?) {
            (Some(before), Some(now)) => before.same(&now).map_err(|stop| {
                stop.at(&format!("the value {} has changed", way.describe(program)))
            }),
            _ => Ok(()),
        }
    }

    /// Calls the entry point under test, and compares the arguments that it observes. The call may
    /// fail, but even then no value may change.
    fn consume(&self, arguments: Vec<Value>, held: &mut Held<'_>) -> StepResult {
        let program = self.env.program();
        let inputs = &self.entry.inputs;
        // Taken for all arguments; `calls::call` separates the consumed ones.
        let before: Vec<_> = arguments
            .iter()
            .zip(inputs)
            .map(|(value, input)| Snapshot::take(program, input.ty, value))
            .collect();
        let (result, kept) = calls::call(self.context, self.entry, arguments);
        if let Err(error) = &result
            && error.kind() == ErrorKind::ContextLost
        {
            return Err(Stop::error(format!("with this argument: {error}")));
        }
        for ((value, before), input) in kept.iter().zip(&before).zip(inputs) {
            if let (Some(value), Ok(before)) = (value, before) {
                let place = format!("the argument {}, after the call", input.name);
                before
                    .check(program, input.ty, value)
                    .map_err(|stop| stop.at(&place))?;
            }
        }
        if let Ok(outputs) = result {
            calls::check_count(self.entry, &outputs)?;
            for (value, output) in outputs.into_iter().zip(&self.entry.outputs) {
                held.hold("the result", output.ty, value)?;
            }
        }
        Ok(())
    }

    /// Two arguments that share memory must give the same results as two copies.
    fn twice(&self, other: usize) -> StepResult {
        let program = self.env.program();
        let ty = self.entry.inputs[self.place].ty;
        let contents = |outputs: Vec<Value>| -> StepResult<Vec<Snapshot>> {
            let outputs = outputs.iter().zip(&self.entry.outputs);
            outputs
                .map(|(value, output)| Snapshot::take(program, output.ty, value))
                .collect()
        };
        let mut copies = self.arguments()?;
        copies[other] = self.arguments()?.swap_remove(self.place);
        let refused = |error| {
            Stop::skip(format!(
                "the entry point does not accept equal arguments: {error}"
            ))
        };
        let expected = contents(self.call(copies).map_err(refused)?)?;

        let mut arguments = self.arguments()?;
        let value = arguments.remove(self.place);
        let (alias, value) = self.alias(ty, value)?;
        arguments.insert(self.place, value);
        arguments[other] = alias;
        let actual = contents(self.call(arguments)?)?;
        for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            expected.same(actual).map_err(|stop| {
                stop.at(&format!("result {number}, compared with that for copies"))
            })?;
        }
        Ok(())
    }

    fn call(&self, arguments: Vec<Value>) -> calls::CallResult {
        calls::call(self.context, self.entry, arguments).0
    }
}
