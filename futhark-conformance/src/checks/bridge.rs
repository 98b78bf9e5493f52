//! The check `bridge`: the bridge behind the driver of `--bridge` has the results of the library under test, keeps the
//! rules of consumption, and reports mistakes. `docs/bridges.md` defines the commands of drivers.

use crate::blocks::{Case, ErrorPattern};
use crate::compare::Within;
use crate::harness::answers::{self, by_size};
use crate::harness::calls::{self, upload, upload_all};
use crate::harness::cases::{Cases, CheckResult, Ran, Stop, ensure, mismatch, skip};
use crate::harness::content::{Content, Reading};
use crate::harness::env::Env;
use crate::harness::make::{Constructor, Form, Maker};
use crate::harness::server::{Reply, Server, failure, has_ended};
use crate::harness::session::{self, CallResult, Implementation, Side, Sides};
use crate::harness::test_cases::on_host;
use crate::harness::ways::{Making, Way, parts_like, ways};
use crate::inputs::{Input, Refusal, Taste, fill};
use crate::record::Cause;
use crate::values::{HostValue, data};
use futhark_manifest::{ElemType, EntryPoint, TypeId, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::compile::{Build, Linkage, library};
use futhark_safe::dynamic::Value;
use std::cell::OnceCell;
use std::process::Command;
use std::slice::from_ref;

pub const NAME: &str = "bridge";

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 16;

/// The extent of each dimension of generated arrays in opaque values.
const EXTENT: usize = 3;

/// The commands that every driver has.
const BASE: [&str; 6] = ["inputs", "outputs", "restore", "store", "call", "free"];

/// The text of the library in a context that an earlier call has lost.
const LOST: &str = "the context was lost in an earlier call";

/// The page with the table of mistakes.
const PAGE: &str = include_str!("../../docs/bridges.md");

/// Names in commands, and the words that replace them.
type Bound<'a> = &'a [(&'a str, &'a [String])];

/// Checks the bridge that the user named, if there is one.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let Some(command) = &env.spec.run.bridge else {
        return;
    };
    let program = env.program();
    if program.backend.is_gpu() {
        return cases.skip(NAME, "", "bridges are checked on the host backends");
    }
    let Some(bridge) = cases.prepare(NAME, "library", || Bridge::new(env, command)) else {
        return;
    };
    let entries: Vec<&EntryPoint> = program.entries().iter().collect();
    let Some(first) = entries.first() else { return };
    // A driver that does not start or answer fails once, not in every case.
    let start = || must(bridge.server.send(&["inputs", &first.name])).map(drop);
    if cases.run_always(NAME, "start", start) == Ran::Failed {
        return;
    }
    let sides = Sides {
        env,
        tested: &bridge,
        oracle: &bridge.server.library,
        names: ("the bridge", "the library"),
        store: &env.store(NAME),
        cases: env.cases().unwrap_or(CASES),
        // A scalar of another language may lose the bits of a NaN.
        within: Within::Tolerance,
        ignores_overflow: false,
    };
    for entry in &entries {
        let case = format!("call {}", entry.name);
        cases.run_generated(env, NAME, &case, || {
            env.must_be_ordered(entry)?;
            session::compare(&sides, entry, None)
        });
    }
    // The last call may have lost the context.
    bridge.server.stop();
    bridge.case(cases, "inputs and outputs", || bridge.interface());
    for (id, described) in program.types_with_ids() {
        let case = format!("store {}", described.name);
        bridge.case(cases, &case, || bridge.store(id));
        for of in Constructor::all_of(program, id) {
            let case = format!("make {}, {}", of.name, of.kind());
            bridge.case(cases, &case, || bridge.parts_and_whole(of));
        }
    }
    answers::measure(env, cases, NAME, &entries);
    for entry in &entries {
        for (argument, input) in entry.consumed() {
            for way in ways(program, entry, argument) {
                let case = format!("consume {} {}, {}", entry.name, input.name, way.describe());
                bridge.case(cases, &case, || bridge.consume(entry, argument, way));
            }
        }
    }
    let mut by_size = by_size(env).into_iter();
    if let Some(entry) = by_size.find(|entry| !entry.inputs.is_empty()) {
        for (mistake, commands) in mistakes("call") {
            let case = format!("mistake: {mistake}");
            bridge.case(cases, &case, || bridge.wrong_call(entry, commands));
        }
    }
    for case in &env.blocks.cases {
        if let Some(pattern) = case.expected_error() {
            let name = format!("fail {}", case.title());
            bridge.case(cases, &name, || bridge.fail(case, pattern));
        }
    }
}

/// The mistakes of a kind in the table of [`PAGE`]: what they are, and commands, of which the last one must fail.
fn mistakes(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefix = format!("{kind}; ");
    PAGE.lines()
        .filter_map(move |line| line.strip_prefix(&prefix)?.split_once("; "))
}

/// The driver of a bridge, for one program.
struct Bridge<'a> {
    env: &'a Env<'a>,
    server: Server<'a>,
    /// An entry point whose results for [`answers::arguments`] are known, if there is one.
    good: OnceCell<Option<&'a EntryPoint>>,
}

impl<'a> Bridge<'a> {
    /// Makes the library of the program. The command will be started when it is needed.
    fn new(env: &'a Env<'a>, command: &str) -> CheckResult<Bridge<'a>> {
        let (run, backend) = (&env.spec.run, env.program().backend);
        let no_library = |error| Stop::skip(format!("no library for the bridge: {error:#}"));
        let futhark = env.open(&env.spec.compiler).map_err(no_library)?;
        let build = Build::new(env.source, backend).fast(!run.optimise);
        let build = futhark.select(build).out_dir(&run.build_dir);
        let folder = tempfile::tempdir()?;
        let prefix = folder.path().join("prog");
        library(&[build], &prefix, Linkage::Shared).map_err(no_library)?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{command} \"$@\""));
        shell.arg("sh").arg(prefix);
        Ok(Bridge {
            env,
            server: Server::new(Side::tested(env, Reading::Stored), folder, shell),
            good: OnceCell::new(),
        })
    }

    /// Runs a case, after which a correct call must have the right results.
    fn case(&self, cases: &mut Cases<'_>, name: &str, body: impl FnOnce() -> CheckResult) {
        cases.run_in_context(self.env, NAME, name, |_| {
            let result = body().and_then(|()| self.works());
            // The next case needs no variable of this one, and no process that has failed.
            if result.is_err() || self.server.send(&["clear"]).is_err() {
                self.server.stop();
            }
            result
        });
    }

    fn works(&self) -> CheckResult {
        let expected = |entry| self.expected(entry, self.values(entry)?);
        let good = self.good.get_or_init(|| {
            let mut entries = by_size(self.env).into_iter();
            entries.find(|entry| !entry.outputs.is_empty() && expected(entry).is_ok())
        });
        let Some(entry) = good else { return Ok(()) };
        let results = must(self.server.call(entry, &self.arguments(entry)?));
        let agree = results.and_then(|results| self.agree(entry, &results, &expected(entry)?));
        agree.map_err(|stop| stop.at("a correct call at the end"))
    }

    /// The types of parameters and results are those of the manifest.
    fn interface(&self) -> CheckResult {
        let program = self.env.program();
        let line = |star: bool, ty| [if star { "*" } else { "" }, program.name_of(ty)].concat();
        for entry in program.entries() {
            let inputs = entry.inputs.iter().map(|it| line(it.unique, it.ty));
            let outputs = entry.outputs.iter().map(|it| line(it.unique, it.ty));
            let mut actual = must(self.server.send(&["inputs", &entry.name]))?;
            actual.extend(must(self.server.send(&["outputs", &entry.name]))?);
            let is_same = inputs.chain(outputs).eq(actual.iter().cloned());
            ensure!(is_same, "{} takes and returns {actual:?}", entry.name);
        }
        Ok(())
    }

    /// A value keeps its bytes when it is restored and stored, twice.
    fn store(&self, id: TypeId) -> CheckResult {
        let (env, ty) = (self.env, TypeRef::Type(id));
        let context = &*env.context()?;
        let value = match env.program().get(id).as_array() {
            Some(array) => {
                // Different extents, so that swapped dimensions show.
                let shape: Vec<usize> = (2..).take(array.rank).collect();
                upload(context, &fill(env.seed(), array.elem, &shape, Taste::Wild))?
            }
            None => Maker::new(env, context, NAME, EXTENT).wild().value(ty)?,
        };
        let first = must(self.server.put(ty, &value))?;
        self.holds((ty, &first), &value, Within::Bits)?;
        let second = self.server.fresh();
        let bytes = must(self.server.store(&first))?;
        must(self.server.restore(&second, ty, &bytes))?;
        self.holds((ty, &second), &value, Within::Bits)
    }

    /// A value has the parts of which it was made, and does not depend on their variables.
    fn parts_and_whole(&self, of: Constructor<'_>) -> CheckResult {
        let (context, types) = (&*self.env.context()?, of.parts());
        let mut maker = Maker::new(self.env, context, NAME, EXTENT).wild();
        let values = maker.values(types.iter().copied())?;
        let parts = self.put_all(of.parts(), &values)?;
        let whole = self.construct(of, &parts)?;
        let expected = Value::Opaque(of.make(context, &values)?);
        let ty = TypeRef::Type(of.id);
        self.holds((ty, &whole), &expected, Within::Tolerance)?;
        let taken = self.take_apart(of, &whole)?;
        let (make, _, variant) = commands(of);
        if !variant.is_empty() {
            let actual = must(self.server.send(&["variant", &whole]))?;
            ensure!(actual == variant, "the variant {variant:?} is {actual:?}");
        }
        let mut another = Vec::new();
        for other in Constructor::all_of(self.env.program(), of.id) {
            let (_, _, other_variant) = commands(other);
            if other_variant != variant {
                another = [other_variant, &self.server.fresh_for(&other.parts())].concat();
            }
        }
        let bound: Bound<'_> = &[
            ("TYPE", &[of.name.to_owned()]),
            ("PARTS", &parts),
            ("WHOLE", from_ref(&whole)),
            ("OUT", &self.server.fresh_for(&parts)),
            ("VARIANT", variant),
            ("ANOTHER", &another),
        ];
        let kind = make.split(' ').next().unwrap_or_default();
        for (mistake, commands) in mistakes(kind) {
            let made = self.mistake(commands, bound);
            made.map_err(|stop| stop.at(mistake))?;
        }
        must(self.run("free WHOLE PARTS", bound))?;
        for (index, (ty, value)) in types.iter().zip(&values).enumerate() {
            let part = self.holds((*ty, &taken[index]), value, Within::Tolerance);
            part.map_err(|stop| stop.at(&of.part_name(index)))?;
        }
        Ok(())
    }

    /// A call changes no value except a consumed argument, which can only be freed afterwards.
    fn consume(&self, entry: &EntryPoint, argument: usize, way: Way<'_>) -> CheckResult {
        let mut values = self.values(entry)?;
        if let Way::Twice(other) = way {
            values[other] = self.values(entry)?.swap_remove(argument);
        }
        let expected = self.expected(entry, values)?;
        let mut arguments = self.arguments(entry)?;
        let (ty, fresh) = (entry.inputs[argument].ty, arguments[argument].clone());
        let mut held = Vec::new();
        let consumed = self.make(way, ty, fresh, &mut |ty, variable| {
            let before = must(self.server.get(ty, &variable))?;
            held.push((ty, variable, before));
            Ok(())
        })?;
        arguments[argument].clone_from(&consumed);
        if let Way::Twice(other) = way {
            arguments[other].clone_from(&consumed);
        }
        let results = self.server.call(entry, &arguments);
        for (ty, variable, before) in &held {
            let same = must(self.server.get(*ty, variable)).and_then(|now| before.same(&now));
            same.map_err(|stop| stop.at("a value that may share memory with the argument"))?;
        }
        if let Some(message) = failure(&results).filter(|_| !matches!(way, Way::Fresh)) {
            // The bridge may refuse arguments that share memory, and the program those that are not known.
            self.env.remark.add(&format!("the call failed: {message}"));
            return Ok(());
        }
        let results = must(results)?;
        must_fail(self.server.store(&consumed), "store of a consumed variable")?;
        let call = self.server.call(entry, &arguments);
        must_fail(call, "a call with a consumed variable")?;
        must(self.server.send(&["free", &consumed]))?;
        match way {
            Way::Fresh | Way::Twice(_) => self.agree(entry, &results, &expected),
            _ => Ok(()),
        }
    }

    /// Makes a mistake in a call of an entry point.
    fn wrong_call(&self, entry: &EntryPoint, commands: &str) -> CheckResult {
        let arguments = self.arguments(entry)?;
        let ty = entry.inputs[0].ty;
        let elem = match ty {
            TypeRef::Scalar(ElemType::I64) => ElemType::F32,
            _ => ElemType::I64,
        };
        let other = HostValue::new(elem, Vec::new(), vec![0; elem.size()]);
        let (scalar, bytes) = (TypeRef::Scalar(elem), data::write(&other));
        must(self.server.restore("other", scalar, &bytes))?;
        let file = self.server.file(&self.server.fresh());
        let bound: Bound<'_> = &[
            ("ENTRY", from_ref(&entry.name)),
            ("FIRST", &arguments[..1]),
            ("REST", &arguments[1..]),
            ("TYPE", &[self.env.program().name_of(ty).to_owned()]),
            ("OUT", &self.server.fresh_for(&entry.outputs)),
            ("FILE", &[file.display().to_string()]),
        ];
        self.mistake(commands, bound)
    }

    /// Executes commands, of which the last one must fail.
    fn mistake(&self, commands: &str, bound: Bound<'_>) -> CheckResult {
        let mut last = Ok(Vec::new());
        for command in commands.split("; ") {
            must(last)?;
            last = self.run(command, bound);
        }
        must_fail(last, commands).map(drop)
    }

    fn run(&self, command: &str, bound: Bound<'_>) -> Reply<Vec<String>> {
        let words = command.split(' ').flat_map(|word| {
            let bound = bound.iter().find(|(name, _)| *name == word);
            bound.map_or_else(|| vec![word.to_owned()], |(_, words)| words.to_vec())
        });
        self.server.send(&words.collect::<Vec<_>>())
    }

    /// A call that a test block expects to fail has a message that matches.
    fn fail(&self, case: &Case, pattern: &ErrorPattern) -> CheckResult {
        let entry = self.env.program().entry(&case.entry);
        let entry = entry.ok_or_else(|| Stop::skip("the program has no such entry point"))?;
        let context = &*self.env.context()?;
        let mut values = upload_all(context, &on_host(self.env, entry, &case.input)?)?;
        let types = entry.inputs.iter().map(|input| input.ty);
        let arguments = self.put_all(types.collect(), &values)?;
        let Err(error) = calls::call(context, entry, &mut values) else {
            skip!("the call succeeds, which `blocks` reports");
        };
        let message = must_fail(self.server.call(entry, &arguments), "the call")?;
        let is_expected = pattern.matches(&message);
        ensure!(is_expected, "expected {pattern}, got: {message}");
        if error.kind() == ErrorKind::ContextLost {
            // The driver must still answer, but its context may be lost, too.
            must(self.server.send(&["inputs", &entry.name]))?;
            self.server.stop();
            self.env.forget_context();
        }
        Ok(())
    }

    fn values(&self, entry: &EntryPoint) -> CheckResult<Vec<Value>> {
        answers::arguments(self.env, &*self.env.context()?, entry)
    }

    /// The results of the library; a skip if it does not accept the arguments.
    fn expected(&self, entry: &EntryPoint, mut values: Vec<Value>) -> CheckResult<Vec<Value>> {
        let results = calls::call(&*self.env.context()?, entry, &mut values);
        results.map_err(|error| Stop::skip(error.to_string()))
    }

    /// Compares results with those of the library.
    fn agree(&self, entry: &EntryPoint, results: &[String], expected: &[Value]) -> CheckResult {
        for ((output, variable), expected) in entry.outputs.iter().zip(results).zip(expected) {
            self.holds((output.ty, variable), expected, Within::Tolerance)?;
        }
        Ok(())
    }

    /// Compares a variable with a value of the library.
    fn holds(&self, (ty, variable): (TypeRef, &str), value: &Value, within: Within) -> CheckResult {
        let program = self.env.program();
        let expected = Content::read_from(program, ty, value, Reading::Stored)?;
        let actual = must(self.server.get(ty, variable))?;
        Ok(actual.agrees(&expected.without_units(program, ty), within)?)
    }

    fn put_all(&self, types: Vec<TypeRef>, values: &[Value]) -> CheckResult<Vec<String>> {
        let put = |(ty, value)| must(self.server.put(ty, value));
        types.into_iter().zip(values).map(put).collect()
    }
}

impl Implementation for Bridge<'_> {
    /// Fails if the driver ends, also where the library reports an error.
    fn call_entry(&self, entry: &str, arguments: &[Input]) -> CheckResult<CallResult> {
        let results = self.server.call_entry(entry, arguments)?;
        match failure(&results) {
            _ if has_ended(&results) => must(results).map(Ok),
            // The last input was fatal in the library, too, which has another context now.
            Some(message) if message.contains(LOST) => {
                self.server.stop();
                self.server.call_entry(entry, arguments)
            }
            _ => Ok(results),
        }
    }
}

/// The values are variables of the driver.
impl Making<String> for Bridge<'_> {
    fn arguments(&self, entry: &EntryPoint) -> CheckResult<Vec<String>> {
        let types = entry.inputs.iter().map(|input| input.ty);
        self.put_all(types.collect(), &self.values(entry)?)
    }

    fn call(&self, entry: &EntryPoint, arguments: &mut [String]) -> CheckResult<Vec<String>> {
        let results = self.server.call(entry, arguments);
        if let Some(message) = failure(&results) {
            skip!("{} does not accept the arguments: {message}", entry.name);
        }
        must(results)
    }

    fn parts(&self, of: Constructor<'_>, given: Option<&String>) -> CheckResult<Vec<String>> {
        let given = given.and_then(|variable| self.server.store(variable).ok());
        let given = data::read(&given.unwrap_or_default()).unwrap_or_default();
        let shape = given.first().map(HostValue::shape).unwrap_or_default();
        let values = parts_like(self.env, &*self.env.context()?, of, shape)?;
        self.put_all(of.parts(), &values)
    }

    fn construct(&self, of: Constructor<'_>, parts: &[String]) -> CheckResult<String> {
        let new = self.server.fresh();
        let (make, _, variant) = commands(of);
        let ty = &[of.name.to_owned()];
        let bound: Bound<'_> = &[
            ("NEW", from_ref(&new)),
            ("TYPE", ty),
            ("VARIANT", variant),
            ("PARTS", parts),
        ];
        must(self.run(make, bound))?;
        Ok(new)
    }

    fn take_apart(&self, of: Constructor<'_>, whole: &String) -> CheckResult<Vec<String>> {
        let new = self.server.fresh_for(&of.parts());
        if let Form::Record(fields) = of.form {
            for (field, new) in fields.iter().zip(&new) {
                must(self.server.send(&["project", new, whole, &field.name]))?;
            }
        } else {
            let (_, take_apart, _) = commands(of);
            must(self.run(take_apart, &[("WHOLE", from_ref(whole)), ("OUT", &new)]))?;
        }
        Ok(new)
    }
}

/// The commands that make a value and take it apart, if one does, and the variant.
fn commands<'a>(of: Constructor<'a>) -> (&'static str, &'static str, &'a [String]) {
    match of.form {
        Form::Record(_) => ("new NEW TYPE PARTS", "", &[]),
        Form::Zip(_) => ("zip NEW TYPE PARTS", "unzip WHOLE OUT", &[]),
        Form::Variant(variant) => {
            let make = "construct NEW TYPE VARIANT PARTS";
            (make, "destruct WHOLE OUT", from_ref(&variant.name))
        }
    }
}

/// The result of a command that must succeed; a skip if the driver does not know the command, and need not.
fn must<T>(reply: Reply<T>) -> CheckResult<T> {
    let crash = has_ended(&reply).then_some(Cause::Crash);
    reply.map_err(|refusal| {
        let Refusal::Error { message, .. } = refusal else {
            return Stop::skip("the arguments do not fit the entry point");
        };
        // A server program ends at such a command.
        let unknown = message.rsplit_once("Unknown command: ");
        let cause = crash.unwrap_or(Cause::Error);
        match unknown.filter(|(_, command)| !BASE.contains(command)) {
            Some((_, command)) => Stop::skip(format!("the driver has no command `{command}`")),
            None => Stop::Fail { cause, message },
        }
    })
}

/// The message of a command that must fail.
fn must_fail<T>(reply: Reply<T>, what: &str) -> CheckResult<String> {
    if let Some(message) = failure(&reply) {
        return Ok(message.to_owned());
    }
    must(reply).map_err(|stop| stop.at(what))?;
    mismatch!("{what}: expected a failure, but the command succeeded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_mistakes_of_every_kind() {
        let counts = ["call", "new", "zip", "construct"].map(|kind| mistakes(kind).count());
        assert_eq!(counts, [16, 2, 1, 4]);
        let twice = mistakes("call").find(|(mistake, _)| *mistake == "free twice");
        assert_eq!(twice, Some(("free twice", "free FIRST; free FIRST")));
    }

    #[test]
    fn unknown_commands_are_skips_unless_every_driver_has_them() {
        let stop = |kind, message: &str| {
            let message = message.to_owned();
            must::<()>(Err(Refusal::Error { kind, message })).unwrap_err()
        };
        let unknown = |command| stop(ErrorKind::Program, &format!("Unknown command: {command}"));
        assert_eq!(
            unknown("zip"),
            Stop::skip("the driver has no command `zip`")
        );
        assert_eq!(unknown("call"), Stop::error("Unknown command: call"));
        let crash = stop(ErrorKind::ContextLost, "it has ended");
        assert!(matches!(
            crash,
            Stop::Fail {
                cause: Cause::Crash,
                ..
            }
        ));
    }
}
