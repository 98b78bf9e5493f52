//! The check `consume`: a call changes no value except the arguments that it consumes.
//!
//! Each case makes the argument in one [`Way`] that can share memory with other values, keeps those values, calls the
//! entry point, and compares their contents with a snapshot from before the call. `Way::Fresh` shares no memory;
//! `Way::Twice` compares the results with those for copies instead.

use crate::harness::answers::{self, arguments};
use crate::harness::calls;
use crate::harness::cases::{Cases, CheckResult, Stop, error, skip};
use crate::harness::content::{Content, Held};
use crate::harness::env::Env;
use crate::harness::make::{Constructor, as_opaque};
use crate::harness::ways::{Making, Way, parts_like, ways};
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};

/// Runs a case for every consumed parameter and every way to make its argument.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    let entries = program.entries().iter();
    let consuming: Vec<_> = entries
        .filter(|entry| entry.consumed().next().is_some())
        .collect();
    answers::measure(env, cases, "consume", &consuming);
    for entry in consuming {
        for (argument, input) in entry.consumed() {
            for way in ways(program, entry, argument) {
                let name = format!("{} {}, {}", entry.name, input.name, way.describe());
                cases.run_in_context(env, "consume", &name, |context| {
                    let case = Case {
                        env,
                        context,
                        entry,
                        argument,
                    };
                    match way {
                        Way::Twice(other) => case.twice(other),
                        _ => case.consume(way),
                    }
                });
            }
        }
    }
}

/// One parameter of one entry point, in one context.
struct Case<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    entry: &'a EntryPoint,
    argument: usize,
}

impl Case<'_> {
    /// Makes the argument in this way, and consumes it.
    fn consume(&self, way: Way<'_>) -> CheckResult {
        let mut held = Held::new(self.env.program());
        // Earlier results must keep their contents, too. This call also shows whether the entry
        // point accepts the arguments.
        let earlier = self.call(self.entry, &mut self.arguments(self.entry)?)?;
        for (value, output) in earlier.into_iter().zip(&self.entry.outputs) {
            held.hold("the result of an earlier call", output.ty, value)?;
        }
        let mut arguments = self.arguments(self.entry)?;
        let fresh = arguments.remove(self.argument);
        let ty = self.entry.inputs[self.argument].ty;
        let consumed = self.make(way, ty, fresh, &mut |ty, value| {
            held.hold("a value that may share the argument's memory", ty, value)
        })?;
        arguments.insert(self.argument, consumed);
        match calls::call_observing(self.context, self.entry, &mut arguments)? {
            Ok(outputs) => {
                for (value, output) in outputs.into_iter().zip(&self.entry.outputs) {
                    held.hold("the result", output.ty, value)?;
                }
            }
            Err(error) if error.kind() == ErrorKind::ContextLost => {
                error!("with this argument: {error}");
            }
            // Even if the call fails, no value may change.
            Err(_) => {}
        }
        held.compare()
    }

    /// Two arguments that share memory must give the same results as two copies.
    fn twice(&self, other: usize) -> CheckResult {
        let program = self.env.program();
        let contents = |outputs: Vec<Value>| -> CheckResult<Vec<Content>> {
            let outputs = outputs.iter().zip(&self.entry.outputs);
            outputs
                .map(|(value, output)| Content::snapshot(program, output.ty, value))
                .collect()
        };
        let mut copies = self.arguments(self.entry)?;
        copies[other] = self.arguments(self.entry)?.swap_remove(self.argument);
        let expected = contents(self.call(self.entry, &mut copies)?)?;

        let mut arguments = self.arguments(self.entry)?;
        let value = arguments.remove(self.argument);
        let (alias, value) = self.alias(value)?;
        arguments.insert(self.argument, value);
        arguments[other] = alias;
        let actual = contents(calls::call(self.context, self.entry, &mut arguments)?)?;
        for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            expected.same(actual).map_err(|stop| {
                stop.at(&format!("result {number}, compared with that for copies"))
            })?;
        }
        Ok(())
    }

    /// A second handle to the memory of a value, and the value itself, if the program has a way to
    /// get one. An entry point that returns its argument may have copied it, which cannot be
    /// observed.
    fn alias(&self, mut value: Value) -> CheckResult<(Value, Value)> {
        let program = self.env.program();
        let ty = self.entry.inputs[self.argument].ty;
        let contents = Content::snapshot(program, ty, &value)?;
        for way in ways(program, self.entry, self.argument) {
            let other;
            (other, value) = match way {
                Way::ReturnedBy(passage) => self.through(passage, value)?,
                Way::TakenFrom(constructor, part) => {
                    let (whole, mut parts) = self.build(constructor, Some((part, value)))?;
                    let taken = self.take_apart(constructor, &whole)?.swap_remove(part);
                    (taken, parts.swap_remove(part).1)
                }
                _ => continue,
            };
            let now = Content::snapshot(program, ty, &other);
            if now.is_ok_and(|now| contents.same(&now).is_ok()) {
                return Ok((other, value));
            }
        }
        let name = program.name_of(ty);
        skip!("the program has no way to get a second handle to a value of type {name}")
    }
}

impl Making<Value> for Case<'_> {
    fn arguments(&self, entry: &EntryPoint) -> CheckResult<Vec<Value>> {
        arguments(self.env, self.context, entry)
    }

    fn call(&self, entry: &EntryPoint, arguments: &mut [Value]) -> CheckResult<Vec<Value>> {
        let outputs = calls::call(self.context, entry, arguments);
        outputs.map_err(|error| {
            let name = &entry.name;
            Stop::skip(format!("{name} does not accept the arguments: {error}"))
        })
    }

    fn parts(&self, of: Constructor<'_>, given: Option<&Value>) -> CheckResult<Vec<Value>> {
        let shape = match given {
            Some(Value::Array(array)) => array.shape(),
            _ => Vec::new(),
        };
        parts_like(self.env, self.context, of, &shape)
    }

    fn construct(&self, of: Constructor<'_>, parts: &[Value]) -> CheckResult<Value> {
        Ok(Value::Opaque(of.make(self.context, parts)?))
    }

    fn take_apart(&self, of: Constructor<'_>, whole: &Value) -> CheckResult<Vec<Value>> {
        Ok(of.take_apart(as_opaque(whole)?)?)
    }
}
