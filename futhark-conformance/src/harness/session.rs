//! Compares two implementations of a program on the same calls. A *side* is the library under test,
//! another library of the program, a server program, or the rule that a property holds. A `Session` generates the
//! calls of one entry point.

use super::answers;
use super::calls;
use super::cases::{CheckResult, Stop, skip};
use super::content::{Content, Reading};
use super::env::{Env, SharedContext};
use super::test_cases::known_inputs;
use crate::compare::{Difference, Within};
use crate::inputs::{self, Call, Input, Kept, Limits, Pace, Refusal, SizedInput, Store, Trial};
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, Program};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Library};
use proptest::strategy::{Strategy, ValueTree};
use std::iter::repeat_n;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of kept inputs of an entry point to try again.
const MAX_KEPT: usize = 20;

/// The time limit of learning.
const LEARNING: Duration = Duration::from_millis(500);

/// On a slow device, an input is not tried if the oracle's call took longer, in seconds.
const TOO_SLOW_FOR_DEVICE: f64 = 0.003;

/// The duration of a call, in seconds, above which a device may have compiled a kernel for it.
const COMPILED: f64 = 0.1;

/// The time limit of shrinking.
const PATIENCE: Duration = Duration::from_secs(5);

/// The settings that all sessions of a check share.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub env: &'a Env<'a>,
    /// The side under test.
    pub tested: &'a dyn Implementation,
    /// The side that is called first and gives the expected results.
    pub oracle: &'a dyn Implementation,
    /// The names of the side under test and of the oracle in messages.
    pub names: (&'a str, &'a str),
    pub store: &'a Store,
    /// The number of inputs per entry point.
    pub cases: u32,
    pub within: Within,
    /// Whether the side under test continues after an overflow that the oracle reports as an error.
    pub ignores_overflow: bool,
}

/// How to simplify an input.
type Tree = Box<dyn ValueTree<Value = Vec<Input>>>;

/// The comparisons for one entry point.
struct Session<'a> {
    sides: &'a Sides<'a>,
    entry: &'a EntryPoint,
    /// The durations of the calls of both sides.
    pace: Pace,
    compared: usize,
    /// Whether the oracle has returned results.
    answered: bool,
    /// The last error of the oracle.
    refused: Option<String>,
}

/// Compares both sides on inputs of an entry point: on `only_input`, if there is one, or on kept inputs and on
/// generated ones. How to generate them is learned from trial calls of the oracle. Fails with the simplest input found
/// for which the results differ; a skip if the oracle refuses every input and no difference is found.
pub fn compare(
    sides: &Sides<'_>,
    entry: &EntryPoint,
    only_input: Option<Vec<Input>>,
) -> CheckResult {
    let mut session = Session {
        sides,
        entry,
        pace: Pace::default(),
        compared: 0,
        answered: false,
        refused: None,
    };
    match only_input {
        Some(arguments) => session.compare(0, None, arguments)?,
        None => session.generate()?,
    }
    match session.refused {
        Some(message) if !session.answered => {
            skip!("both sides refuse every input: {}", message.trim())
        }
        _ => Ok(()),
    }
}

impl Session<'_> {
    fn generate(&mut self) -> CheckResult {
        let (sides, entry) = (self.sides, self.entry);
        let env = sides.env;
        let kept = match env.unchecked {
            // Kept inputs need not be like those of the test blocks.
            Some(_) => Vec::new(),
            None => sides.store.inputs_of(&entry.name),
        };
        for kept in kept.into_iter().take(MAX_KEPT) {
            self.compare(0, None, kept.arguments)?;
        }
        // An entry point without parameters has only one input.
        let cases = match entry.inputs.is_empty() {
            true => 1,
            false => sides.cases,
        };
        let planned = self.compared + usize::try_from(cases).unwrap_or(usize::MAX);
        let mut runner = inputs::runner(env.seed(), &format!("differential {}", entry.name));
        let generated = generated_inputs(sides, entry, cases)?;
        let begun = Instant::now();
        for SizedInput { extent, arguments } in generated {
            // Each side has this time.
            if begun.elapsed() > 2 * env.time() || !self.pace.affords(extent) {
                env.remark.add(&format!(
                    "{} of {planned} inputs: calls take up to {}",
                    self.compared,
                    answers::duration(self.pace.longest())
                ));
                break;
            }
            let tree = arguments.new_tree(&mut runner);
            let tree = tree.expect("no strategy rejects a value");
            let arguments = tree.current();
            self.compare(extent, Some(tree), arguments)?;
        }
        Ok(())
    }

    /// Compares both sides on an input. `extent`: the maximum extent of its arrays; 0 if it was not generated by size.
    /// `tree`: shrinks it; `None` if it is not shrunk.
    fn compare(&mut self, extent: usize, tree: Option<Tree>, arguments: Vec<Input>) -> CheckResult {
        let sides = self.sides;
        let name = &self.entry.name;
        let begun = Instant::now();
        let expected = sides.oracle.call_entry(name, &arguments);
        let seconds = begun.elapsed().as_secs_f64();
        self.pace.record(extent, seconds);
        let expected = expected.map_err(|stop| stop.at(&self.shown(&arguments)))?;
        match &expected {
            Err(Refusal::Unfit) => return Ok(()),
            _ if seconds > TOO_SLOW_FOR_DEVICE && sides.env.device().is_slow() => return Ok(()),
            Err(Refusal::Error { message, .. }) => self.refused = Some(message.clone()),
            Ok(_) => self.answered = true,
        }
        let begun = Instant::now();
        let found = self.difference(&arguments, &expected);
        let mut seconds = begun.elapsed().as_secs_f64();
        let found = found.map_err(|stop| stop.at(&self.shown(&arguments)))?;
        if seconds > COMPILED && sides.env.device().compiles_kernels() {
            let begun = Instant::now();
            let _ = sides.tested.call_entry(name, &arguments)?;
            seconds = begun.elapsed().as_secs_f64();
        }
        self.pace.record(extent, seconds);
        self.compared += 1;
        let Some(found) = found else { return Ok(()) };
        let (arguments, found) = match tree {
            Some(mut tree) => self.simplest(&mut tree, found)?,
            None => (arguments, found),
        };
        match counts(&found, &arguments) {
            true => Err(self.report(arguments, &found)),
            false => Ok(()),
        }
    }

    /// The difference between both sides for an input, if there is one.
    fn difference(
        &self,
        arguments: &[Input],
        expected: &CallResult,
    ) -> CheckResult<Option<Difference>> {
        let sides = self.sides;
        if sides.ignores_overflow && is_refused_only_by_our_checks(expected) {
            return Ok(None);
        }
        sides.store.record_running(&Kept {
            entry: self.entry.name.clone(),
            arguments: arguments.to_vec(),
            found: format!("the process died in this call, in {}", sides.names.0),
        });
        let actual = sides.tested.call_entry(&self.entry.name, arguments);
        sides.store.clear_running();
        let actual = actual?;
        if out_of_memory(&actual) || out_of_memory(expected) {
            return Ok(None);
        }
        Ok(agree(&actual, expected, sides.within).err())
    }

    fn simplest(
        &self,
        tree: &mut Tree,
        found: Difference,
    ) -> CheckResult<(Vec<Input>, Difference)> {
        // Simplifying must not turn a difference that breaks a promise into one that does not.
        let counted = counts(&found, &tree.current());
        let tries = match self.sides.env.device().is_slow() {
            true => 60,
            false => 1000,
        };
        shrink(tree.as_mut(), found, tries, |arguments| {
            let expected = self.sides.oracle.call_entry(&self.entry.name, arguments)?;
            let found = self.difference(arguments, &expected)?;
            Ok(found.filter(|found| !counted || counts(found, arguments)))
        })
    }

    fn report(&self, arguments: Vec<Input>, found: &Difference) -> Stop {
        let (tested, oracle) = self.sides.names;
        let call = self.shown(&arguments);
        let kept = Kept {
            entry: self.entry.name.clone(),
            arguments,
            found: format!("on {tested}: {}", found.message),
        };
        let kept = match self.sides.store.keep(&kept) {
            Ok(path) => format!("kept in {}", path.display()),
            Err(error) => format!("failed to keep it: {error}"),
        };
        Stop::mismatch(format!(
            "{}\nexpected is the result of {oracle} for {call}\n{kept}",
            found.message
        ))
    }

    /// The call as readable text.
    fn shown(&self, arguments: &[Input]) -> String {
        let parameters = self.entry.inputs.iter().zip(arguments);
        let parameters =
            parameters.map(|(input, argument)| format!("\n  {} = {argument}", input.name));
        format!("{}{}", self.entry.name, parameters.collect::<String>())
    }
}

/// Learns from trial calls of the oracle how to generate arguments. Those of a program with
/// `#[unsafe]` stay within what its test blocks show.
fn generated_inputs(
    sides: &Sides<'_>,
    entry: &EntryPoint,
    cases: u32,
) -> CheckResult<Box<dyn Iterator<Item = SizedInput>>> {
    let env = sides.env;
    if env.unchecked.is_some() && !entry.inputs.is_empty() {
        let shown: Vec<_> = known_inputs(env, entry).collect();
        if let Some(arguments) = inputs::like_test_cases(&shown) {
            let extent = 0;
            let input = SizedInput { extent, arguments };
            return Ok(Box::new(repeat_n(input, cases as usize)));
        }
        env.may_generate(&entry.name)?;
    }
    let begun = Instant::now();
    let mut trial = |entry: &str, arguments: &[Input]| {
        let started = Instant::now();
        if started - begun > LEARNING {
            return None;
        }
        let outcome = sides.oracle.call_entry(entry, arguments).ok()?;
        let (fits, costly) = match &outcome {
            Ok(_) => (true, false),
            Err(Refusal::Error { kind, message }) => (
                !message.contains("invalid sizes"),
                matches!(kind, ErrorKind::OutOfMemory | ErrorKind::ContextLost),
            ),
            Err(Refusal::Unfit) => (false, true),
        };
        Some(Trial {
            fits,
            seconds: started.elapsed().as_secs_f64(),
            bytes: outcome.iter().flatten().map(Content::bytes).sum(),
            costly,
        })
    };
    let known = known_inputs(env, entry).next().map(|values| {
        let extents = values.iter().flat_map(|value| value.shape());
        let is_size =
            |value: &&HostValue| value.shape().is_empty() && value.elem() == ElemType::I64;
        let sizes = values.iter().filter(is_size);
        let sizes = sizes.map(|value| usize::try_from(value.whole(0)).unwrap_or_default());
        extents.copied().chain(sizes).collect::<Vec<_>>()
    });
    let call = Call::learn(env.program(), entry, known.as_deref(), &mut trial);
    let call = call.map_err(Stop::skip)?;
    let limits = match env.device().is_slow() {
        true => Limits::SLOW,
        false => Limits::REAL,
    };
    Ok(Box::new(inputs::growing(Arc::new(call), limits, cases)))
}

/// Whether a call ran out of memory, which the other side need not do.
fn out_of_memory(outcome: &CallResult) -> bool {
    matches!(outcome, Err(Refusal::Error { kind, .. }) if *kind == ErrorKind::OutOfMemory)
}

/// Whether a call failed because of a size or a division that plain programs do not check. They continue with it, and
/// may then store a malformed value, or are killed.
fn is_refused_only_by_our_checks(outcome: &CallResult) -> bool {
    let is_own = |message: &str| OWN_MESSAGES.iter().any(|text| message.contains(text));
    matches!(outcome, Err(Refusal::Error { message, .. }) if is_own(message))
}

/// Parts of the messages of `futhark-sys` for sizes and divisions that plain programs do not check.
const OWN_MESSAGES: [&str; 5] = [
    "integer overflow in",
    "a negative dimension",
    "of negative length cannot be concatenated",
    "negative or larger than its memory",
    "cannot be created or used",
];

/// Whether a difference breaks a promise. With extreme floats among the arguments, two kinds of differences do not: the
/// result of a reduction depends on its order, and the conversion of a float out of range to an integer is unspecified.
/// Floats count if no argument has more than two elements, because then order does not matter.
fn counts(found: &Difference, arguments: &[Input]) -> bool {
    let leaves = || arguments.iter().flat_map(Input::leaves);
    if leaves().all(inputs::is_tame) {
        return true;
    }
    match found.elem {
        None | Some(ElemType::Bool) => true,
        Some(ElemType::F16 | ElemType::F32 | ElemType::F64) => {
            leaves().all(|value| value.count() <= 2)
        }
        Some(_) => false,
    }
}

/// The simplest input found that still fails, with its failure. `first` is the failure of the tree
/// as it is.
fn shrink<T: ValueTree + ?Sized, F, E>(
    tree: &mut T,
    first: F,
    tries: usize,
    mut fails: impl FnMut(&T::Value) -> Result<Option<F>, E>,
) -> Result<(T::Value, F), E> {
    let begun = Instant::now();
    let mut best = (tree.current(), first);
    let mut more = tree.simplify();
    for _ in 0..tries {
        if !more || begun.elapsed() > PATIENCE {
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

/// A side of a comparison: calls entry points by name with generated inputs.
pub trait Implementation {
    /// Calls an entry point with an input, and reads the results; an error if either is impossible.
    fn call_entry(&self, entry: &str, arguments: &[Input]) -> CheckResult<CallResult>;
}

/// The outcome of a call: its results, or why there are none.
pub type CallResult = Result<Vec<Content>, Refusal>;

/// Compares an outcome with the expected one: results must agree, and an error must be an error. Messages are not
/// compared, because they depend on the backend.
pub fn agree(actual: &CallResult, expected: &CallResult, within: Within) -> Result<(), Difference> {
    match (actual, expected) {
        (Ok(actual), Ok(expected)) => {
            let (mut actual, mut expected) = (all(actual), all(expected));
            if actual.len() != expected.len() {
                // One compiler returns a tuple as one result, and another each part as a result.
                (actual, expected) = (separated(actual), separated(expected));
            }
            if actual.len() != expected.len() {
                let (expected, actual) = (expected.len(), actual.len());
                let message = format!("expected {expected} results, got {actual}");
                return Err(Difference::form(message));
            }
            let mut pairs = actual.into_iter().zip(expected).enumerate();
            pairs.try_for_each(|(index, (actual, expected))| {
                let at = |difference: Difference| difference.at(&format!("result {index}"));
                actual.agrees(expected, within).map_err(at)
            })
        }
        (Err(Refusal::Error { message, .. }), Ok(_)) => Err(Difference::form(format!(
            "expected results, got an error: {message}"
        ))),
        (Ok(actual), Err(Refusal::Error { message, .. })) => Err(Difference::form(format!(
            "expected an error ({}), got {actual:?}",
            message.trim()
        ))),
        (Err(_), Err(_)) | (Err(Refusal::Unfit), _) | (_, Err(Refusal::Unfit)) => Ok(()),
    }
}

fn all(results: &[Content]) -> Vec<&Content> {
    results.iter().collect()
}

/// The parts of a single result that has parts.
fn separated(results: Vec<&Content>) -> Vec<&Content> {
    match results[..] {
        [Content::Compound(_, parts)] => parts.iter().map(|(_, part)| part).collect(),
        _ => results,
    }
}

/// A library, with a context that is replaced when it is lost.
pub struct Side<'a> {
    env: &'a Env<'a>,
    /// Another library of the same program, and its context; the library under test uses the context that
    /// all checks share.
    other: Option<(Library, SharedContext)>,
    reading: Reading,
}

impl<'a> Side<'a> {
    /// The library under test.
    #[must_use]
    pub fn tested(env: &'a Env<'a>, reading: Reading) -> Side<'a> {
        Side {
            env,
            other: None,
            reading,
        }
    }

    /// Another library of the same program.
    #[must_use]
    pub fn other(env: &'a Env<'a>, library: Library) -> Side<'a> {
        Side {
            env,
            other: Some((library, SharedContext::default())),
            reading: Reading::Parts,
        }
    }

    /// The program, as this library's manifest describes it.
    #[must_use]
    pub fn program(&self) -> &Program {
        match &self.other {
            Some((library, _)) => library.program(),
            None => self.env.program(),
        }
    }

    /// The current context. Creates one if there is none.
    pub fn context(&self) -> CheckResult<Arc<Context>> {
        let Some((library, context)) = &self.other else {
            return self.env.context();
        };
        let context = context.get(|| self.env.context_of(library));
        context.map_err(|error| Stop::skip(format!("no context to compare with: {error}")))
    }
}

impl Implementation for Side<'_> {
    fn call_entry(&self, entry: &str, arguments: &[Input]) -> CheckResult<CallResult> {
        let context = self.context()?;
        let outcome = call(&context, entry, arguments, self.reading)?;
        if matches!(&outcome, Err(Refusal::Error { kind, .. }) if *kind == ErrorKind::ContextLost) {
            match &self.other {
                Some((_, context)) => context.forget(),
                None => self.env.forget_context(),
            }
        }
        Ok(outcome)
    }
}

fn call(
    context: &Context,
    entry: &str,
    arguments: &[Input],
    reading: Reading,
) -> CheckResult<CallResult> {
    let program = context.library().program();
    let Some(entry) = program.entry(entry) else {
        return Ok(Err(Refusal::Unfit));
    };
    let outputs = Input::upload_all(arguments, context, entry)
        .and_then(|mut values| Ok(calls::call(context, entry, &mut values)?));
    let outputs = match outputs {
        Ok(outputs) => outputs,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let pairs = entry.outputs.iter().zip(&outputs);
    let contents = pairs.map(|(output, value)| {
        let content = Content::read_from(program, output.ty, value, reading)?;
        Ok(match reading {
            Reading::Stored => content.without_units(program, output.ty),
            Reading::Parts | Reading::Elements => content,
        })
    });
    contents.collect::<CheckResult<_>>().map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;

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
        let (numbers, failure) =
            shrink(&mut tree, first, 10_000, |numbers| large(numbers)).unwrap();
        assert_eq!(failure, 101);
        assert_eq!(numbers.len(), 5);
        assert_eq!(numbers.iter().sum::<i32>(), 101);
    }

    #[test]
    fn a_tuple_agrees_with_its_parts_as_results() {
        let host = |text| Content::Host(crate::values::parse(text).unwrap().remove(0));
        let parts = |texts: &[&'static str]| texts.iter().copied().map(host).collect::<Vec<_>>();
        let tuple = |texts| {
            let parts = parts(texts).into_iter().map(|part| (String::new(), part));
            Ok(vec![Content::Compound("record".into(), parts.collect())])
        };
        let agree = |a: &CallResult, b: &CallResult| {
            assert_eq!(
                agree(a, b, Within::Bits).is_ok(),
                agree(b, a, Within::Bits).is_ok()
            );
            agree(a, b, Within::Bits).is_ok()
        };
        assert!(agree(&tuple(&["1", "true"]), &Ok(parts(&["1", "true"]))));
        assert!(agree(&tuple(&[]), &Ok(Vec::new())));
        assert!(!agree(&tuple(&["1", "true"]), &Ok(parts(&["1", "false"]))));
        assert!(!agree(&tuple(&["1", "true"]), &Ok(parts(&["1"]))));
    }

    #[test]
    fn shrinking_stops_at_its_limits() {
        let mut tree = tree();
        let first = large(&tree.current()).unwrap().unwrap();
        let mut tries = 0;
        let (numbers, failure) = shrink(&mut tree, first, 7, |numbers| {
            tries += 1;
            large(numbers)
        })
        .unwrap();
        assert_eq!(tries, 7);
        assert_eq!(large(&numbers).unwrap(), Some(failure), "it still fails");
    }
}
