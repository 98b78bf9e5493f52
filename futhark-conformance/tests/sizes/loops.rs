//! Loops and launches over a number of elements that is an argument, and whose results need no memory of
//! that size. No allocation refuses such a number, so the runtime's own functions must.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futhark_safe::Backend;
use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::Value;

use crate::calls::Calls;
use crate::{build_text, scalar};

/// An expression over the arguments `a` and `b`, of type `i64`.
#[derive(Clone, Copy)]
pub struct Loop {
    pub name: &'static str,
    expression: &'static str,
    /// A seventh of the value.
    value: fn(i128, i128) -> i128,
    /// The compiler that cannot compile it.
    not_in: &'static str,
}

const fn of(name: &'static str, expression: &'static str, value: fn(i128, i128) -> i128) -> Loop {
    Loop {
        name,
        expression,
        value,
        not_in: "",
    }
}

impl Loop {
    const fn not_in(mut self, version: &'static str) -> Loop {
        self.not_in = version;
        self
    }

    /// Whether `found` is the value. For negative arguments, which no check can distinguish from valid numbers
    /// of iterations if there is no array, it can be the value of a loop without iterations, or the one that the
    /// compiler computes without a loop.
    fn accepts(&self, found: i64, [a, b]: [i64; 2]) -> bool {
        let value = |a: i64, b: i64| ((self.value)(a.into(), b.into()) * 7) as i64;
        let mut values = vec![value(a, b)];
        if a < 0 || b < 0 {
            values.extend([value(a.max(0), b.max(0)), value(a.max(0), b)]);
        }
        values.contains(&found)
    }
}

#[rustfmt::skip]
pub const LOOPS: &[Loop] = &[
    of("reduce", "i64.sum (replicate a 7)", |a, _| a),
    of("map_reduce", "i64.sum (map (\\i -> if i > 0 then 7 else 0) (replicate a (opaque 1i64)))", |a, _| a),
    of("units", "7 * length (map (const ()) (opaque (replicate a ())))", |a, _| a),
    of("unit_copy", "7 * length (copy (replicate a ()))", |a, _| a),
    of("unit_rows", "7 * length (flatten (replicate a (replicate b ())))", |a, b| a * b),
    of("unit_concat", "7 * length (replicate a () ++ replicate b ())", |a, b| a + b),
    of("unit_tabulate", "7 * length (tabulate a (const ()))", |a, _| a),
    of("scan", "i64.sum (scan (+) 0 (replicate a 0)) + 7", |_, _| 1),
    of("scan_rows", "i64.sum (map (\\x -> i64.sum (scan (+) 0 (replicate b x))) (replicate a 0)) + 7", |_, _| 1),
    of("scatter", "i64.sum (scatter (replicate 3 0) (replicate a 1) (replicate a 7))", |a, _| i128::from(a > 0)),
    of("scatter_2d", "i64.sum (flatten (scatter_2d (replicate 3 (replicate 3 0)) (replicate a (1, 1)) (replicate a 7)))", |a, _| i128::from(a > 0)),
    of("scatter_rows", "i64.sum (map (\\x -> i64.sum (scatter (replicate 2 0) (replicate b 1) (replicate b x))) (replicate a 7))", |a, b| if b > 0 { a } else { 0 }),
    of("hist", "i64.sum (hist (+) 0 3 (replicate a 1) (replicate a 7))", |a, _| a),
    of("reduce_by_index", "i64.sum (reduce_by_index (replicate 3 0) (+) 0 (replicate a 1) (replicate a 7))", |a, _| a),
    of("reduce_by_index_2d", "i64.sum (flatten (reduce_by_index_2d (replicate 2 (replicate 2 0)) (+) 0 (replicate a (1, 1)) (replicate a 7)))", |a, _| a),
    of("hist_rows", "i64.sum (map (\\x -> i64.sum (hist (+) 0 3 (replicate b 1) (replicate b x))) (replicate a 7))", |a, b| a * b),
    of("nested_rows", "i64.sum (map (\\x -> i64.sum (replicate b x)) (replicate a 7))", |a, b| a * b),
    of("deep", "i64.sum (map (\\x -> i64.sum (map (\\y -> i64.sum (map (+ y) (replicate a x))) (replicate b 0))) (replicate 1 7))", |a, b| a * b),
    of("flat", "i64.sum (flatten (replicate a (replicate b 7)))", |a, b| a * b),
    of("transposed", "i64.sum (flatten (transpose (replicate a (replicate b 7))))", |a, b| a * b),
    of("column_sums", "i64.sum (map i64.sum (transpose (replicate a (replicate b 7))))", |a, b| a * b),
    of("sum_of_columns", "i64.sum (reduce (map2 (+)) (replicate b 0) (replicate a (replicate b 7)))", |a, b| a * b),
    of("all", "if all (== 7) (replicate a (opaque 7i64)) then 7 else 0", |_, _| 1),
    of("filter", "7 * length (filter (> 6) (replicate a 7i64))", |a, _| a),
    of("partition", "7 * length (partition (> 6) (replicate a 7i64)).0", |a, _| a),
    of("for_loop", "loop s = 0 for _i < a do s + i64.sum (replicate b 7)", |a, b| a * b),
    of("while_loop", "(loop (s, i) = (0, 0) while i < a do (s + i64.sum (replicate b 7), i + 1)).0", |a, b| a * b),
    of("vjp_scan", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (scan (+) 0 (flatten (opaque (replicate a xs))))) (replicate b 0f64) 0)) + 7", |_, _| 1).not_in("0.25.27"),
    of("vjp_map", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (map (* 7) xs)) (replicate a 2f64) 1))", |a, _| a),
    of("vjp_rows", "i64.f64 (f64.sum (vjp (\\x -> f64.sum (flatten (replicate a (replicate b x)))) 2f64 7 |> \\x -> [x]))", |a, b| a * b),
    of("vjp_product", "i64.f64 (f64.sum (vjp (\\xs -> f64.product xs) (replicate a 1f64) 7))", |a, _| a),
    of("vjp_maximum", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (map (\\x -> f64.maximum (map (* x) xs)) (replicate b 1f64))) (replicate a 7f64) 0)) + 7", |_, _| 1),
    of("vjp_scatter", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (scatter (replicate 3 0f64) (replicate a 1) xs)) (replicate a 0f64) 0)) + 7", |_, _| 1),
    of("vjp_hist", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (reduce_by_index (replicate 3 0f64) (+) 0 (replicate a 1) xs)) (replicate a 2f64) 7))", |a, _| a),
    of("vjp_gather", "i64.f64 (f64.sum (vjp (\\xs -> f64.sum (map (\\i -> #[unsafe] xs[i]) (replicate a 0))) (replicate 1 2f64) 7))", |a, _| a),
    of("vjp_loop", "i64.f64 (f64.sum (vjp (\\xs -> loop s = 0 for _i < b do s + f64.sum xs) (replicate a 1f64) 7))", |a, b| a * b),
    of("jvp_map", "i64.f64 (f64.sum (jvp (map (* 7)) (replicate a 1f64) (replicate a 1f64)))", |a, _| a),
    of("jvp_scan", "i64.f64 (f64.sum (jvp (scan (+) 0) (replicate a 1f64) (replicate a 0f64))) + 7", |_, _| 1),
    of("jvp_hist", "i64.f64 (f64.sum (jvp (\\xs -> reduce_by_index (replicate 3 0f64) (+) 0 (replicate a 1) xs) (replicate a 2f64) (replicate a 7f64)))", |a, _| a),
    of("jvp_rows", "i64.f64 (jvp (\\x -> f64.sum (flatten (replicate a (replicate b x)))) 2f64 7)", |a, b| a * b),];

/// Mistakes of the compilers with valid arguments, in plain programs too: on GPU backends, host code divides by zero for a
/// histogram of no elements in each row.
fn known_mistakes(backend: Backend) -> BTreeSet<&'static str> {
    let names: &[&str] = match backend.is_gpu() {
        true => &["hist_rows"],
        false => &[],
    };
    names.iter().copied().collect()
}

/// Numbers that are negative whatever the number of threads.
#[rustfmt::skip]
const NEGATIVE: [i64; 6] = [i64::MIN, i64::MIN + 1, -(1 << 32) - 1, -(1 << 31) - 1, -5000, -1];

/// Calls every loop with each pair of arguments, in contexts with each of these numbers of threads.
pub fn check(
    backend: Backend,
    compiler: &Compiler,
    loops: &[Loop],
    threads: impl Iterator<Item = usize>,
) {
    let version = compiler.version().to_string();
    let loops: Vec<Loop> = loops
        .iter()
        .copied()
        .filter(|l| l.not_in != version)
        .collect();
    let mut text = String::new();
    for Loop {
        name, expression, ..
    } in &loops
    {
        let _ = writeln!(
            text,
            "entry l_{name} (a: i64) (b: i64) : i64 = {expression}"
        );
    }
    let library = build_text(
        backend,
        compiler,
        &format!("loops_{backend}_{version}"),
        &text,
    )
    .unwrap();
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    let mut mistakes = known_mistakes(backend);
    mistakes.retain(|name| loops.iter().any(|l| l.name == *name));
    let (mut count, mut errors) = (0, 0);
    for threads in threads {
        let mut calls = Calls::new(&library, threads);
        for l in &loops {
            for arguments in arguments(backend, threads) {
                let found = match calls.call(&format!("l_{}", l.name), &arguments) {
                    Ok(found) if l.accepts(scalar(&found), arguments) => continue,
                    Err(_) if arguments.iter().any(|&n| n < 0) => continue,
                    Ok(found) => scalar(&found).to_string(),
                    Err(error) => error.to_string(),
                };
                if mistakes.contains(l.name) {
                    known.insert(l.name);
                    continue;
                }
                let case = format!("{} {arguments:?} with {threads} threads", l.name);
                wrong.push(format!("{case}: {found}"));
            }
        }
        count += calls.calls;
        errors += calls.errors;
    }
    println!(
        "{backend}, {version}: {} loops, {count} calls, {errors} errors",
        loops.len()
    );
    let first = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} of {count}: {first:#?}", wrong.len());
    assert!(errors > 0 && errors < count);
    assert_eq!(known, mistakes, "known mistakes of the compiler");
}

/// Fewer where a call takes a quarter of a second.
fn arguments(backend: Backend, threads: usize) -> Vec<[i64; 2]> {
    let threads = threads as i64;
    let all = match backend {
        Backend::OpenCl => vec![-5000, 2],
        _ => {
            let mut all = vec![0, 1, 5, -2];
            all.extend([1 - threads, -threads, -threads - 1, -3 * threads]);
            all.extend(NEGATIVE);
            all
        }
    };
    let others: &[i64] = match backend {
        Backend::OpenCl => &[0, -3],
        _ => &[0, 1, 3, -1, -3],
    };
    let pairs = all
        .iter()
        .flat_map(|&a| others.iter().map(move |&b| [a, b]));
    pairs.collect()
}

/// Makes arrays of units, which need no memory, of negative and huge sizes.
pub fn check_units(backend: Backend, compiler: &Compiler) {
    if compiler.version().to_string() == "0.25.27" {
        return println!("skipped: 0.25.27 does not compile arrays of units as results");
    }
    const TEXT: &str = "
entry fill (a: i64) (_: i64) : []() = replicate a ()
entry copied (a: i64) (_: i64) : []() = copy (replicate a ())
entry rows (a: i64) (b: i64) : [][]() = replicate a (replicate b ())
entry joined (a: i64) (b: i64) : []() = replicate a () ++ replicate b ()";
    const HUGE: i64 = 1 << 62;
    let name = format!("units_{backend}");
    let library = build_text(backend, compiler, &name, TEXT).unwrap();
    let mut calls = Calls::new(&library, 3);
    for (entry, arguments, shape) in [
        ("fill", [5, 0], Some(vec![5])),
        ("fill", [HUGE, 0], Some(vec![HUGE])),
        ("fill", [-5000, 0], None),
        ("fill", [-(1 << 31) - 1, 0], None),
        ("copied", [HUGE, 0], Some(vec![HUGE])),
        ("copied", [-5000, 0], None),
        ("rows", [2, 3], Some(vec![2, 3])),
        ("rows", [HUGE, 1], Some(vec![HUGE, 1])),
        ("rows", [-5000, 2], None),
        ("rows", [-5000, 0], None),
        ("rows", [-2, -3], None),
        ("joined", [2, 3], Some(vec![5])),
        ("joined", [HUGE, 3], Some(vec![HUGE + 3])),
        ("joined", [-2, 3], None),
        ("joined", [-5000, 3], None),
    ] {
        let result = calls.call(entry, &arguments);
        let found = result.ok().map(|result| match &result {
            Value::Opaque(units) => units.shape().unwrap(),
            other => panic!("{other:?}"),
        });
        let found = found.map(|shape| shape.iter().map(|&dim| dim as i64).collect());
        assert_eq!(found, shape, "{entry} {arguments:?} on {backend}");
    }
    assert_eq!(calls.lost, 0);
}
