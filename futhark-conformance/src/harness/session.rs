//! Compares two sides on generated inputs of one entry point.

use super::cases::{all_known_inputs, known_inputs};
use super::content::{Difference, DifferenceKind, Within};
use super::costs;
use super::env::Env;
use super::sides::{Answer, Outcome};
use super::steps::{StepResult, Stop};
use crate::inputs::{self, Call, Input, Kept, Pace, Patience, Stage, Store, Trial};
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of kept inputs of an entry point to try again.
const MAX_KEPT: usize = 20;

/// The time limit of learning.
const LEARNING: Duration = Duration::from_millis(500);

/// The time limit of one call of the oracle, in seconds, for inputs to a simulated device, which is
/// much slower than the oracle.
const TOO_MUCH: f64 = 0.003;

/// The duration of a call, in seconds, above which a device may have compiled a kernel for it.
const COMPILED: f64 = 0.1;

/// The settings that all sessions of a check share.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The environment of the program.
    pub env: &'a Env<'a>,
    /// The side under test.
    pub tested: &'a dyn Answer,
    /// The side that is called first and gives the expected results.
    pub oracle: &'a dyn Answer,
    /// The names of the side under test and of the oracle in messages.
    pub names: (&'a str, &'a str),
    /// The store of kept inputs.
    pub store: &'a Store,
    /// The number of inputs per entry point.
    pub cases: u32,
    /// How exactly results must agree.
    pub within: Within,
    /// Whether the side under test continues after an overflow that the oracle reports as an error.
    pub untrapped: bool,
}

/// An entry point with its inputs and their expected outcomes.
pub struct Session {
    entry: String,
    parameters: Vec<String>,
    cases: Vec<Case>,
    /// The number of inputs that were to be generated.
    planned: usize,
    /// The durations of the oracle's calls, if they were too long for the other inputs.
    cut: Option<Pace>,
}

struct Case {
    /// The maximum extent of inputs of this stage; 0 for a kept input.
    extent: usize,
    /// How to simplify the input; `None` for a kept input, which is simple already.
    tree: Option<Box<dyn ValueTree<Value = Vec<Input>>>>,
    arguments: Vec<Input>,
    expected: Outcome,
}

impl Session {
    /// Learns which inputs the entry point accepts, generates inputs, and calls the oracle.
    pub fn prepare(
        sides: &Sides<'_>,
        entry: &EntryPoint,
        alone: Option<&Kept>,
    ) -> StepResult<Session> {
        let mut session = Session {
            entry: entry.name.clone(),
            parameters: entry
                .inputs
                .iter()
                .map(|input| input.name.clone())
                .collect(),
            cases: Vec::new(),
            planned: 0,
            cut: None,
        };
        if let Some(kept) = alone {
            session.ask(sides, 0, None, kept.arguments.clone())?;
            return Ok(session);
        }
        let kept = match sides.env.unchecked {
            // Kept inputs need not be like those of the test blocks.
            Some(_) => Vec::new(),
            None => sides.store.of(&entry.name),
        };
        for kept in kept.into_iter().take(MAX_KEPT) {
            session.ask(sides, 0, None, kept.arguments)?;
        }
        let settings = &sides.env.inputs;
        // An entry point without parameters has only one input.
        let cases = if entry.inputs.is_empty() {
            1
        } else {
            sides.cases
        };
        session.planned = session.cases.len() + usize::try_from(cases).unwrap_or(usize::MAX);
        let stages = stages(sides, entry, cases)?;
        let mut runner = inputs::runner(sides.env.seed, &format!("differential {}", entry.name));
        let begun = Instant::now();
        let mut pace = Pace::default();
        for stage in stages {
            for number in 0..stage.cases {
                if begun.elapsed() > settings.time() || !pace.affords(stage.extent) {
                    session.cut = Some(pace);
                    return Ok(session);
                }
                let tree = draw(stage.strategy(number), &mut runner)?;
                let arguments = tree.current();
                let started = Instant::now();
                session.ask(sides, stage.extent, Some(tree), arguments)?;
                pace.record(stage.extent, started.elapsed().as_secs_f64());
            }
        }
        Ok(session)
    }

    fn ask(
        &mut self,
        sides: &Sides<'_>,
        extent: usize,
        tree: Option<Box<dyn ValueTree<Value = Vec<Input>>>>,
        arguments: Vec<Input>,
    ) -> StepResult {
        let begun = Instant::now();
        let at = |stop: Stop| stop.at(&shown(&self.entry, &self.parameters, &arguments));
        let expected = sides.oracle.run(&self.entry, &arguments).map_err(at)?;
        let much = begun.elapsed().as_secs_f64() > TOO_MUCH;
        if matches!(expected, Outcome::Unfit) || much && sides.env.device.is_slow() {
            return Ok(());
        }
        self.cases.push(Case {
            extent,
            tree,
            arguments,
            expected,
        });
        Ok(())
    }

    /// Calls the side under test with each input, and compares the outcomes.
    pub fn compare(self, sides: &Sides<'_>) -> StepResult {
        let settings = &sides.env.inputs;
        let begun = Instant::now();
        let mut refused = None;
        let mut answered = false;
        let mut pace = Pace::default();
        let mut compared = 0;
        let mut cut = self.cut;
        for mut case in self.cases {
            if begun.elapsed() > settings.time() || !pace.affords(case.extent) {
                cut = Some(pace);
                break;
            }
            match &case.expected {
                Outcome::Error { message, .. } => refused = Some(message.clone()),
                _ => answered = true,
            }
            let at = |stop: Stop| stop.at(&shown(&self.entry, &self.parameters, &case.arguments));
            let started = Instant::now();
            let found = failure(sides, &self.entry, &case.arguments, Some(&case.expected));
            let found = found.map_err(at)?;
            let mut seconds = started.elapsed().as_secs_f64();
            if seconds > COMPILED && sides.env.device.compiles_kernels() {
                let started = Instant::now();
                sides.tested.run(&self.entry, &case.arguments)?;
                seconds = started.elapsed().as_secs_f64();
            }
            pace.record(case.extent, seconds);
            compared += 1;
            if let Some(found) = found {
                let (arguments, found) = match &mut case.tree {
                    Some(tree) => simplest(sides, &self.entry, tree, found)?,
                    None => (case.arguments, found),
                };
                if counts(&found, &arguments) {
                    return Err(report(
                        sides,
                        &self.entry,
                        &self.parameters,
                        arguments,
                        &found,
                    ));
                }
            }
        }
        if let Some(pace) = cut
            && compared < self.planned
        {
            sides.env.remark.add(&format!(
                "{compared} of {} inputs: calls take up to {}",
                self.planned,
                costs::shown(pace.longest())
            ));
        }
        match refused {
            Some(message) if !answered => Err(Stop::skip(format!(
                "both sides refuse every input: {}",
                message.trim()
            ))),
            _ => Ok(()),
        }
    }
}

/// Learns from trial calls of the oracle how to generate arguments. Those of a program with
/// `#[unsafe]` stay within what its test blocks show.
fn stages(sides: &Sides<'_>, entry: &EntryPoint, cases: u32) -> StepResult<Vec<Stage>> {
    if sides.env.unchecked.is_some() && !entry.inputs.is_empty() {
        let shown: Vec<_> = all_known_inputs(sides.env, entry).collect();
        if let Some(strategy) = inputs::like(&shown) {
            return Ok(vec![Stage {
                extent: 0,
                cases,
                first: strategy.clone(),
                other: strategy,
            }]);
        }
        sides.env.may_generate(&entry.name)?;
    }
    let program = sides.env.program();
    let call = Call::of(program, entry).map_err(|name| {
        Stop::skip(format!(
            "no operation of the program makes a value of type {name}"
        ))
    })?;
    let begun = Instant::now();
    let mut trial = |entry: &str, arguments: &[Input]| {
        let started = Instant::now();
        if started - begun > LEARNING {
            return None;
        }
        let outcome = sides.oracle.run(entry, arguments).ok()?;
        Some(trial_of(&outcome, started.elapsed().as_secs_f64()))
    };
    let known = known_inputs(sides.env, entry).map(|values| {
        let extents = values
            .iter()
            .flat_map(|value| value.shape().iter().copied());
        vec![extents.collect()]
    });
    let call = inputs::learn(&call, known.as_deref(), &mut trial).map_err(Stop::skip)?;
    let limits = sides.env.inputs.limits();
    Ok(inputs::stages(&Arc::new(call), limits, cases))
}

fn trial_of(outcome: &Outcome, seconds: f64) -> Trial {
    let (fits, bytes, costly) = match outcome {
        Outcome::Values(contents) => (true, contents.iter().map(|c| c.bytes()).sum(), false),
        Outcome::Error { kind, message } => (
            !message.contains("invalid sizes"),
            0,
            matches!(kind, ErrorKind::OutOfMemory | ErrorKind::ContextLost),
        ),
        Outcome::Unfit => (false, 0, true),
    };
    Trial {
        fits,
        seconds,
        bytes,
        costly,
    }
}

fn draw(
    strategy: &BoxedStrategy<Vec<Input>>,
    runner: &mut TestRunner,
) -> StepResult<Box<dyn ValueTree<Value = Vec<Input>>>> {
    strategy
        .new_tree(runner)
        .map_err(|reason| Stop::skip(format!("failed to generate an input: {reason}")))
}

/// The difference between both sides for an input, if there is one.
fn failure(
    sides: &Sides<'_>,
    entry: &str,
    arguments: &[Input],
    expected: Option<&Outcome>,
) -> StepResult<Option<Difference>> {
    let expected = match expected {
        Some(expected) => expected.clone(),
        None => sides.oracle.run(entry, arguments)?,
    };
    if sides.untrapped && has_bad_size(&expected) {
        return Ok(None);
    }
    sides.store.running(&Kept {
        entry: entry.to_owned(),
        arguments: arguments.to_vec(),
        found: format!("the process died in this call, in {}", sides.names.0),
    });
    let actual = sides.tested.run(entry, arguments);
    sides.store.ended();
    let difference = match actual? {
        actual if out_of_memory(&actual) || out_of_memory(&expected) => None,
        actual => actual.agrees(&expected, sides.within).err(),
    };
    Ok(difference)
}

/// Whether a call ran out of memory, which the other side need not do.
fn out_of_memory(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error { kind, .. } if *kind == ErrorKind::OutOfMemory)
}

/// Whether a call failed because of a size that plain programs do not check. They continue with it, and
/// may then store a malformed value.
fn has_bad_size(outcome: &Outcome) -> bool {
    let is_bad = |message: &str| BAD_SIZES.iter().any(|text| message.contains(text));
    matches!(outcome, Outcome::Error { message, .. } if is_bad(message))
}

/// The message of `futhark-sys` for sizes that only its own checks refuse.
const BAD_SIZES: [&str; 5] = [
    "integer overflow in",
    "a negative dimension",
    "of negative length cannot be concatenated",
    "negative or larger than its memory",
    "cannot be created or used",
];

fn simplest(
    sides: &Sides<'_>,
    entry: &str,
    tree: &mut Box<dyn ValueTree<Value = Vec<Input>>>,
    found: Difference,
) -> StepResult<(Vec<Input>, Difference)> {
    // Simplifying must not turn a difference that breaks a promise into one that does not.
    let counted = counts(&found, &tree.current());
    shrink(
        tree.as_mut(),
        found,
        sides.env.inputs.patience(),
        |arguments| {
            let found = failure(sides, entry, arguments, None)?;
            Ok(found.filter(|found| !counted || counts(found, arguments)))
        },
    )
}

/// Whether a difference breaks a promise. With extreme floats among the arguments, two kinds of
/// differences do not: the result of a reduction depends on its order, and the conversion of a
/// float out of range to an integer is unspecified.
fn counts(found: &Difference, arguments: &[Input]) -> bool {
    let leaves = || arguments.iter().flat_map(Input::leaves);
    if leaves().all(inputs::is_tame) {
        return true;
    }
    match found.kind {
        DifferenceKind::Form | DifferenceKind::Bool => true,
        DifferenceKind::Integer => false,
        DifferenceKind::Float => leaves().all(|value| value.count() <= 2),
    }
}

/// A call as readable text.
fn shown(entry: &str, parameters: &[String], arguments: &[Input]) -> String {
    let mut call = entry.to_owned();
    for (name, argument) in parameters.iter().zip(arguments) {
        call.push_str(&format!("\n  {name} = {argument}"));
    }
    call
}

fn report(
    sides: &Sides<'_>,
    entry: &str,
    parameters: &[String],
    arguments: Vec<Input>,
    found: &Difference,
) -> Stop {
    let mut message = found.message.clone();
    let call = shown(entry, parameters, &arguments);
    message.push_str(&format!(
        "\nexpected is the result of {} for {call}",
        sides.names.1
    ));
    let kept = Kept {
        entry: entry.to_owned(),
        arguments,
        found: format!("on {}: {}", sides.names.0, found.message),
    };
    match sides.store.keep(&kept) {
        Ok(path) => message.push_str(&format!("\nkept in {}", path.display())),
        Err(error) => message.push_str(&format!("\nfailed to keep it: {error}")),
    }
    Stop::mismatch(message)
}

/// The simplest input found that still fails, with its failure. `first` is the failure of the tree
/// as it is.
fn shrink<T: ValueTree + ?Sized, F, E>(
    tree: &mut T,
    first: F,
    patience: Patience,
    mut fails: impl FnMut(&T::Value) -> Result<Option<F>, E>,
) -> Result<(T::Value, F), E> {
    let begun = Instant::now();
    let mut best = (tree.current(), first);
    let mut more = tree.simplify();
    for _ in 0..patience.tries {
        if !more || begun.elapsed() > patience.time {
            break;
        }
        let candidate = tree.current();
        more = match fails(&candidate)? {
            Some(failure) => {
                best = (candidate, failure);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use std::time::Duration;

    const LONG: Patience = Patience {
        tries: 10_000,
        time: Duration::from_secs(20),
    };

    fn tree() -> impl ValueTree<Value = Vec<i32>> {
        let strategy = vec(0..1000i32, 5..50).prop_filter("one is large", |numbers| {
            numbers.iter().any(|&number| number > 100)
        });
        strategy.new_tree(&mut inputs::runner(3, "")).unwrap()
    }

    fn large(numbers: &[i32]) -> Result<Option<i32>, ()> {
        Ok(numbers.iter().copied().find(|&number| number > 100))
    }

    #[test]
    fn the_simplest_failure_is_found() {
        let mut tree = tree();
        let first = large(&tree.current()).unwrap().unwrap();
        let (numbers, failure) = shrink(&mut tree, first, LONG, |numbers| large(numbers)).unwrap();
        assert_eq!(failure, 101);
        assert_eq!(numbers.len(), 5);
        assert_eq!(numbers.iter().sum::<i32>(), 101);
    }

    #[test]
    fn shrinking_stops_at_its_limits() {
        let mut tree = tree();
        let first = large(&tree.current()).unwrap().unwrap();
        let mut tries = 0;
        let patience = Patience { tries: 7, ..LONG };
        let (numbers, failure) = shrink(&mut tree, first, patience, |numbers| {
            tries += 1;
            large(numbers)
        })
        .unwrap();
        assert_eq!(tries, 7);
        assert_eq!(large(&numbers).unwrap(), Some(failure), "it still fails");
    }
}
