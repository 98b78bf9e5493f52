//! Size arguments of every sign and magnitude: each call returns an error or the correct result.
//!
//! There are two calls for every construct that creates an array of a size that is an argument:
//! one returns the array, which is passed to a further call; the other creates and uses it. The
//! elements are read in another order than they were written in, so that a wrong size reads other
//! memory.
//!
//! `CC=clang-14 cargo test -p futhark-conformance --test sizes` uses another C compiler: results must be the same with
//! each. `ci/sanitize asan-c` runs the tests with AddressSanitizer.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod calls;
mod constructs;
mod expressions;
mod hostile;
mod literals;
mod loops;
mod overflows;
mod pipelines;
mod planted;

use calls::Calls;
use constructs::{CONSTRUCTS, Construct};
use futhark_safe::compile::{Build, Compiler};
use futhark_safe::dynamic::{Arg, Library, Value};
use futhark_safe::{Backend, Error};
use literals::Literals;
use loops::LOOPS;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;
/// Larger than the address space, in bytes.
const HUGE: i64 = 1 << 48;

/// The values of each argument, by the number of arguments.
#[rustfmt::skip]
const ALL: [&[i64]; 4] = [
    &[MIN, MIN + 1, -HUGE, -25, -5, -1, 0, 1, 3, 23, 24, 25, HUGE, MAX - 1, MAX],
    &[MIN, -HUGE, -5, -3, -1, 0, 1, 3, 8, 24, 25, HUGE, (1 << 62) + 1, MAX],
    &[MIN, -5, -3, -1, 0, 2, 4, 24, HUGE, MAX],
    &[MIN, -3, -2, 0, 1, 2, MAX],
];

/// Fewer values, where a call takes milliseconds and a lost context seconds.
const FEW: [&[i64]; 4] = [
    &[MIN, -5, 0, 3, HUGE],
    &[-5, -3, 0, 3],
    &[-3, 0, 2],
    &[-3, 2],
];

/// The constructs on Oclgrind, where each call takes a quarter of a second.
const ON_OCLGRIND: [&str; 2] = ["replicate2", "concat1"];

#[test]
fn sizes_on_c() {
    for compiler in support::needs::compilers() {
        check(Backend::C, &compiler, &ALL, CONSTRUCTS);
    }
}

/// Uses few values, or all with `FUTHARK_TESTS_FULL`.
#[test]
fn sizes_on_multicore() {
    let values = if full() { &ALL } else { &FEW };
    for compiler in support::needs::compilers() {
        check(Backend::Multicore, &compiler, values, CONSTRUCTS);
    }
}

#[test]
fn sizes_as_literals_on_c() {
    check_literals(Backend::C);
}

#[test]
fn sizes_as_literals_on_multicore() {
    needed!(support::needs::full());
    check_literals(Backend::Multicore);
}

/// With the newest compiler, or all with `FUTHARK_TESTS_FULL`.
fn check_literals(backend: Backend) {
    let newest = support::needs::compiler().into_iter().collect();
    let compilers = if full() { Compiler::all() } else { newest };
    for (compiler, literals) in compilers
        .iter()
        .flat_map(|compiler| Literals::SOME.map(|literals| (compiler, literals)))
    {
        check_with(literals, backend, compiler, &FEW, CONSTRUCTS);
        if full() {
            hostile::check(literals, backend, compiler, 3);
        }
    }
}

/// Oclgrind works with one context of a process at a time.
fn alone_on_opencl() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this machine can run OpenCL.
fn opencl_device(compiler: &Compiler) -> Option<()> {
    let library = build(Backend::OpenCl, compiler, &CONSTRUCTS[..1]);
    let context = library.and_then(|library| calls::start(&library, None));
    support::needs::or_skip(context.map(drop).map_err(|error| error.to_string()))
}

#[test]
fn sizes_on_opencl() {
    let _alone = alone_on_opencl();
    let compiler = needed!(support::needs::compiler());
    let mut constructs = CONSTRUCTS.to_vec();
    constructs.retain(|construct| ON_OCLGRIND.contains(&construct.name));
    needed!(opencl_device(&compiler));
    check(Backend::OpenCl, &compiler, &FEW, &constructs);
}

/// Uses every fourth construct, or all with `FUTHARK_TESTS_FULL`: the kernels of all take half a
/// minute to compile.
#[test]
fn sizes_on_emulated_cuda() {
    if support::in_a_process_with_the_device("") {
        let mut constructs = CONSTRUCTS.to_vec();
        // Sizes that only a kernel uses are not checked.
        constructs.retain(|construct| construct.name != "scratch1");
        if !full() {
            constructs = constructs.into_iter().step_by(4).collect();
        }
        check(Backend::Cuda, &Compiler::find().unwrap(), &FEW, &constructs);
    }
}

#[test]
fn loops_on_c() {
    for compiler in support::needs::compilers() {
        loops::check(Backend::C, &compiler, &loops_on_hosts(), std::iter::once(1));
        loops::check_units(Backend::C, &compiler);
    }
}

/// Uses few numbers of threads, or all from 2 to 32 with `FUTHARK_TESTS_FULL`.
#[test]
fn loops_on_multicore() {
    let threads = match full() {
        true => (2..=32).collect(),
        false => vec![2, 3, 16],
    };
    for compiler in support::needs::compilers() {
        loops::check(
            Backend::Multicore,
            &compiler,
            &loops_on_hosts(),
            threads.iter().copied(),
        );
        loops::check_units(Backend::Multicore, &compiler);
    }
}

/// Only with `FUTHARK_TESTS_FULL`, like the next: kernels take long to compile.
#[test]
fn loops_on_opencl() {
    needed!(support::needs::full());
    let _alone = alone_on_opencl();
    let compiler = needed!(support::needs::compiler());
    needed!(opencl_device(&compiler));
    loops::check(Backend::OpenCl, &compiler, LOOPS, std::iter::once(1));
    loops::check_units(Backend::OpenCl, &compiler);
}

#[test]
fn loops_on_emulated_cuda() {
    needed!(support::needs::full());
    if support::in_a_process_with_the_device("") {
        let compiler = Compiler::find().unwrap();
        loops::check(Backend::Cuda, &compiler, LOOPS, std::iter::once(1));
        loops::check_units(Backend::Cuda, &compiler);
    }
}

#[test]
fn pipelines_on_c() {
    check_pipelines("pipelines_on_c", Backend::C, &[1]);
}

#[test]
fn pipelines_on_multicore() {
    needed!(multicore());
    let threads: &[usize] = if full() { &[2, 8] } else { &[3] };
    check_pipelines("pipelines_on_multicore", Backend::Multicore, threads);
}

/// Uses few pipelines and the newest compiler, or many and all compilers with `FUTHARK_TESTS_FULL`.
fn check_pipelines(test: &str, backend: Backend, threads: &[usize]) {
    let newest = needed!(support::needs::compiler());
    if !full() {
        return pipelines::check(backend, &newest, threads, 1, [4, 100]);
    }
    // Some of the arrays of many pipelines would fill the memory of the machine.
    const LIMITED: &str = "FUTHARK_TESTS_IN_LITTLE_MEMORY";
    if std::env::var_os(LIMITED).is_none() {
        // AddressSanitizer reserves more, and has a limit of its own.
        let limit = match std::env::var_os("LD_PRELOAD") {
            None => "ulimit -d 8388608",
            Some(_) => "ASAN_OPTIONS=$ASAN_OPTIONS:max_allocation_size_mb=4096",
        };
        let output = Command::new("sh")
            .args([
                "-c",
                &format!("{limit} && exec \"$0\" --exact \"$1\" --nocapture"),
            ])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env(LIMITED, "1")
            .output()
            .unwrap();
        println!("{}", String::from_utf8_lossy(&output.stdout));
        let stderr = String::from_utf8_lossy(&output.stderr);
        return assert!(output.status.success(), "{stderr}");
    }
    for (compiler, seed) in Compiler::all()
        .iter()
        .flat_map(|compiler| (1..=8).map(move |seed| (compiler, seed)))
    {
        pipelines::check(backend, compiler, threads, seed, [16, 300]);
    }
}

#[test]
fn hostile_on_c() {
    check_hostile(Backend::C, &[1]);
}

#[test]
fn hostile_on_multicore() {
    needed!(multicore());
    check_hostile(Backend::Multicore, if full() { &[2, 8] } else { &[3] });
}

fn check_hostile(backend: Backend, threads: &[usize]) {
    for compiler in support::needs::compilers() {
        for &threads in threads {
            hostile::check(Literals::None, backend, &compiler, threads);
        }
    }
}

#[test]
fn expressions_on_c() {
    check_expressions(Backend::C);
}

#[test]
fn expressions_on_multicore() {
    needed!(multicore());
    check_expressions(Backend::Multicore);
}

fn check_expressions(backend: Backend) {
    for compiler in support::needs::compilers() {
        expressions::check_divisions(backend, &compiler);
        expressions::check_branches(backend, &compiler);
        expressions::check_empty(backend, &compiler);
    }
}

/// Names a check that the C code leaves out. Then few loops are enough for a test to fail.
const WITHOUT: &str = "FUTHARK_TESTS_WITHOUT";

#[test]
fn each_check_is_needed() {
    needed!(support::needs::full());
    for (check, test) in [
        ("FUT_OF_PRODUCT", "loops_on_c"),
        ("FUT_OF_COUNT", "loops_on_c"),
        ("FUT_OF_LOOP", "loops_on_c"),
        ("FUT_OF_TASK", "loops_on_multicore"),
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(WITHOUT, check)
            .env("FUTHARK_TESTS_LIMIT", "3")
            .output()
            .unwrap();
        println!("without {check}, {test}: {}", output.status);
        assert!(!output.status.success(), "{check}");
    }
}

/// Only with `FUTHARK_TESTS_FULL`, where gcc is installed.
#[test]
fn overflows_of_signed_numbers_are_known() {
    if !full() || support::needs::compiler().is_none() || planted::asan_runtime().is_none() {
        return println!(
            "skipped: FUTHARK_TESTS_FULL is not set, or there is no compiler or no sanitizer"
        );
    }
    overflows::check(&[
        "hostile_on_c",
        "pipelines_on_c",
        "expressions_on_c",
        "hostile_on_multicore",
        "pipelines_on_multicore",
    ]);
}

/// Only with `FUTHARK_TESTS_FULL`: each fault compiles its programs with a sanitizer.
#[test]
fn planted_faults_are_found() {
    if !full() || support::needs::compiler().is_none() || planted::asan_runtime().is_none() {
        return println!(
            "skipped: FUTHARK_TESTS_FULL is not set, or there is no compiler or no AddressSanitizer"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let missed = planted::missed(folder.path());
    assert!(
        missed.is_empty(),
        "without these checks no test fails: {missed:?}"
    );
}

fn loops_on_hosts() -> Vec<loops::Loop> {
    let few = ["reduce", "unit_rows", "unit_concat", "scatter", "flat"];
    let all = std::env::var_os(WITHOUT).is_none();
    let loops = LOOPS.iter().copied();
    loops.filter(|l| all || few.contains(&l.name)).collect()
}

fn full() -> bool {
    std::env::var_os("FUTHARK_TESTS_FULL").is_some()
}

/// `None`, and a message, without `FUTHARK_TESTS_FULL` and with the default C compiler: most of the C code is that of c.
/// Tests with sanitizers use another C compiler.
fn multicore() -> Option<()> {
    std::env::var_os("CC")
        .map(drop)
        .or_else(support::needs::full)
}

fn check(backend: Backend, compiler: &Compiler, values: &[&[i64]; 4], constructs: &[Construct]) {
    check_with(Literals::None, backend, compiler, values, constructs);
}

fn check_with(
    literals: Literals,
    backend: Backend,
    compiler: &Compiler,
    values: &[&[i64]; 4],
    constructs: &[Construct],
) {
    let calls = |construct: &Construct| {
        let mut all = combinations(values[construct.arity - 1], construct.arity);
        all.retain(|numbers| {
            !construct.leaves_out(numbers) && !literals.leave_out(construct.name, numbers)
        });
        all
    };
    let text = literals.program(&program(constructs), |entry| {
        let construct = entry.strip_suffix("_used").unwrap_or(entry);
        calls(constructs.iter().find(|c| c.name == construct).unwrap())
    });
    let name = format!("sizes_{backend}_{}_{literals:?}", constructs.len());
    let library = build_text(backend, compiler, &name, &text).unwrap();
    let mut trial = Trial::new(&library, literals);
    for construct in constructs {
        for numbers in calls(construct) {
            trial.check(construct, &numbers);
        }
    }
    let Trial { calls, wrong } = trial;
    println!(
        "{calls}, {}: {} constructs",
        compiler.version(),
        constructs.len()
    );
    let first = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} wrong: {first:#?}", wrong.len());
    assert!(calls.errors > 0 && calls.errors < calls.calls);
}

fn build(
    backend: Backend,
    compiler: &Compiler,
    constructs: &[Construct],
) -> Result<Library, Error> {
    let name = format!("sizes_{backend}_{}", constructs.len());
    build_text(backend, compiler, &name, &program(constructs))
}

fn build_text(
    backend: Backend,
    compiler: &Compiler,
    name: &str,
    text: &str,
) -> Result<Library, Error> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sizes");
    let source = support::source(&folder, &format!("{name}.fut"), text);
    let mut build = Build::new(source, backend)
        .compiler(compiler.clone())
        .out_dir(&folder)
        .fast(true);
    if let Ok(check) = std::env::var(WITHOUT) {
        build = build.flag(format!("-DFUT_WITHOUT={check}"));
    }
    Library::build(&build)
}

/// The text of the program.
fn program(constructs: &[Construct]) -> String {
    let mut text = String::new();
    for construct in constructs {
        let (name, elem, make) = (construct.name, construct.elem, construct.expression);
        let parameters: String = ["a", "b", "c", "d"][..construct.arity]
            .iter()
            .map(|name| format!(" ({name}: i64)"))
            .collect();
        let array = format!("{}{elem}", "[]".repeat(construct.rank));
        let used = used("opaque made", construct.rank, elem);
        let _ = writeln!(
            text,
            "entry {name} (xs: []i32){parameters} : {array} = {make}"
        );
        let _ = writeln!(
            text,
            "entry {name}_used (xs: []i32){parameters} : i64 = let made = {make} in {used}"
        );
    }
    for (elem, ranks) in [("i32", 1..=4), ("u8", 1..=3)] {
        for rank in ranks {
            let array = format!("{}{elem}", "[]".repeat(rank));
            let used = used("xs", rank, elem);
            let _ = writeln!(text, "entry use_{elem}_{rank} (xs: {array}) : i64 = {used}");
        }
    }
    text
}

/// An expression for the sum of an array that reads the elements in another order.
fn used(array: &str, rank: usize, elem: &str) -> String {
    let flat = match rank {
        1 => format!("reverse ({array})"),
        2 => format!("flatten (reverse (transpose ({array})))"),
        3 => format!("flatten_3d (reverse (transpose ({array})))"),
        _ => format!("flatten_4d (reverse (transpose ({array})))"),
    };
    format!("i64.sum (map i64.{elem} ({flat}))")
}

/// Whether arithmetic on the arguments may overflow, an error even if the result is in range.
fn is_extreme(arguments: &[i64]) -> bool {
    arguments
        .iter()
        .any(|value| value.unsigned_abs() >= HUGE as u64)
}

fn combinations(values: &[i64], arity: usize) -> Vec<Vec<i64>> {
    (0..arity).fold(vec![Vec::new()], |all, _| {
        let longer = |begin: &Vec<i64>| {
            let begin = begin.clone();
            values
                .iter()
                .map(move |&value| [&begin[..], &[value]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

impl Construct {
    /// Whether a correct call takes too long: an empty loop of 2^48 iterations, or an array of
    /// most of the memory.
    fn leaves_out(&self, arguments: &[i64]) -> bool {
        let huge = arguments.iter().any(|&value| value >= HUGE);
        let empty = arguments.contains(&0);
        let dims = self.expected(arguments).unwrap_or_default();
        let count = dims.iter().try_fold(1i128, |n, &dim| n.checked_mul(dim));
        let large = count.is_some_and(|n| (1 << 20..HUGE.into()).contains(&n));
        let endless = huge && (self.loops || empty || dims.contains(&0));
        large || endless || self.wraps && is_extreme(arguments)
    }

    fn expected(&self, arguments: &[i64]) -> Option<Vec<i128>> {
        let arguments: Vec<i128> = arguments.iter().map(|&value| value.into()).collect();
        (self.shape)(&arguments)
    }
}

/// Calls of one library.
struct Trial<'a> {
    calls: Calls<'a>,
    wrong: Vec<String>,
}

impl<'a> Trial<'a> {
    fn new(library: &'a Library, literals: Literals) -> Trial<'a> {
        Trial {
            calls: Calls::with(library, None, |context| {
                Some(context.array(&[7i32; 24]).unwrap().into())
            })
            .literals(literals),
            wrong: Vec::new(),
        }
    }

    fn check(&mut self, construct: &Construct, arguments: &[i64]) {
        let name = construct.name;
        let expected = construct.expected(arguments);
        let returned = self.calls.call(name, arguments);
        let found = match &returned {
            Ok(result) => self.array_is_right(result, construct, expected.as_deref()),
            Err(error) => error_is_right(error, arguments, expected.as_deref()),
        };
        self.note(name, arguments, &expected, found);
        let used = self.calls.call(&format!("{name}_used"), arguments);
        let found = match &used {
            Ok(total) => sum_is_right(total, expected.as_deref()),
            Err(error) => error_is_right(error, arguments, expected.as_deref()),
        };
        self.note(&format!("{name}, used"), arguments, &expected, found);
    }

    fn note(
        &mut self,
        name: &str,
        arguments: &[i64],
        expected: &Option<Vec<i128>>,
        found: Result<(), String>,
    ) {
        if let Err(found) = found {
            let case = format!("{name} {arguments:?}: expected {expected:?}, got {found}");
            self.wrong.push(case);
        }
    }

    /// Compares the shape, and the sum of the elements as read here and by a further call.
    fn array_is_right(
        &self,
        result: &Value,
        construct: &Construct,
        expected: Option<&[i128]>,
    ) -> Result<(), String> {
        let Value::Array(array) = result else {
            return Err(format!("{result:?}"));
        };
        let shape: Vec<i128> = array.shape().iter().map(|&dim| dim as i128).collect();
        if expected != Some(&shape[..]) {
            return Err(format!("an array of shape {shape:?}"));
        }
        let elements: Vec<i64> = match construct.elem {
            "u8" => widened(&array.to_vec::<u8>().unwrap()),
            _ => widened(&array.to_vec::<i32>().unwrap()),
        };
        let read = elements.iter().sum();
        let entry = format!("use_{}_{}", construct.elem, construct.rank);
        let context = &self.calls.context;
        let results = context.call(&entry, vec![Arg::Borrow(result)]).unwrap();
        let sums = [read, scalar(&results[0])].map(i128::from);
        let sum = 7 * shape.iter().product::<i128>();
        if sums == [sum; 2] {
            Ok(())
        } else {
            Err(format!("the sums {sums:?}"))
        }
    }
}

fn widened<T: Copy + Into<i64>>(elements: &[T]) -> Vec<i64> {
    elements.iter().map(|&element| element.into()).collect()
}

/// Accepts an error if the arguments are invalid.
fn error_is_right(
    error: &Error,
    arguments: &[i64],
    expected: Option<&[i128]>,
) -> Result<(), String> {
    let valid = expected.is_some_and(|dims| dims.iter().all(|&dim| dim >= 0));
    if valid && !is_extreme(arguments) {
        Err(error.to_string())
    } else {
        Ok(())
    }
}

/// Compares the sum. Within a call, an empty array may have a negative dimension.
fn sum_is_right(total: &Value, expected: Option<&[i128]>) -> Result<(), String> {
    let count = expected.and_then(|dims| {
        let valid = dims.contains(&0) || dims.iter().all(|&dim| dim > 0);
        valid.then(|| dims.iter().product::<i128>())
    });
    let total = i128::from(scalar(total));
    if count == Some(total / 7) && total % 7 == 0 {
        Ok(())
    } else {
        Err(format!("the sum {total}"))
    }
}

fn scalar(value: &Value) -> i64 {
    match value {
        Value::Scalar(scalar) => i64::from_ne_bytes(scalar.to_bytes().try_into().unwrap()),
        other => panic!("{other:?}"),
    }
}
