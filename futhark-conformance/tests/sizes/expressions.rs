//! Single expressions with extreme arguments: divisions, sizes that a branch does not use, and arrays without elements
//! whose dimensions are huge.

use std::fmt::Write as _;

use futhark_safe::Backend;
use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::Value;

use crate::calls::Calls;
use crate::{build_text, scalar};

/// An operator, and its exact value.
type Division = (&'static str, &'static str, fn(i128, i128) -> i128);

const DIVISIONS: [Division; 4] = [
    ("div", "/", |a, b| {
        a / b - i128::from(a % b != 0 && (a < 0) != (b < 0))
    }),
    ("mod", "%", |a, b| {
        a - b * (a / b - i128::from(a % b != 0 && (a < 0) != (b < 0)))
    }),
    ("quot", "//", |a, b| a / b),
    ("rem", "%%", |a, b| a % b),
];

/// Where a division stands, as a Futhark expression. `D` is the division of `x` by `y`, both of type `T`.
const PLACES: [(&str, &str); 6] = [
    ("scalar", "i64.T D"),
    (
        "map",
        "(map (\\x -> i64.T D) (opaque (replicate 40 x)))[39]",
    ),
    (
        "rows",
        "(map (\\x -> i64.T (map (\\y -> D) (opaque (replicate 3 y)))[2]) (opaque (replicate 40 x)))[39]",
    ),
    ("loop", "loop _r = 0 for _i < opaque 3i32 do i64.T D"),
    ("branch", "if opaque true then i64.T D else 0"),
    (
        "size",
        "length (opaque (replicate (i64.T D & 7) (opaque 1u8))) | (i64.T D & (!7))",
    ),
];

const TYPES: [(&str, u32); 4] = [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)];

/// Divides extreme numbers of all types, in all places. The overflow of a division by -1 is an error or wraps.
pub fn check_divisions(backend: Backend, compiler: &Compiler) {
    let mut text = String::new();
    let every = DIVISIONS.iter().flat_map(|division| {
        let places = PLACES
            .iter()
            .flat_map(|place| TYPES.map(|type_| (place, type_)));
        places.map(move |(place, type_)| (division, place, type_))
    });
    let every: Vec<_> = every.collect();
    for ((name, operator, _), (place, expression), (type_, _)) in &every {
        let expression = expression
            .replace('D', &format!("(x {operator} y)"))
            .replace('T', type_);
        let _ = writeln!(
            text,
            "entry {name}_{place}_{type_} (a: i64) (b: i64) : i64 = let (x, y) = ({type_}.i64 a, {type_}.i64 b) in {expression}"
        );
    }
    let name = format!("divisions_{backend}");
    let library = build_text(backend, compiler, &name, &text).unwrap();
    let mut calls = Calls::new(&library, 3);
    for ((name, _, value), (place, _), (type_, bits)) in every {
        let entry = format!("{name}_{place}_{type_}");
        let min = i64::MIN >> (64 - bits);
        let numbers = [min, min + 1, -7, -1, 0, 1, 2, -(min + 2), -(min + 1)];
        for [a, b] in numbers.iter().flat_map(|&a| numbers.map(|b| [a, b])) {
            let found = calls.call(&entry, &[a, b]).ok();
            let found = found.map(|found| scalar(&found));
            let overflows = a == min && b == -1;
            let expected = (b != 0).then(|| value(a.into(), b.into()));
            let wrapped = expected.map(|value| (value << (128 - bits) >> (128 - bits)) as i64);
            assert!(
                found == wrapped || overflows && found.is_none(),
                "{entry} {a} {b}: expected {wrapped:?}, got {found:?}"
            );
        }
    }
    println!("{calls}, {}", compiler.version());
}

/// Expressions that create an array of `n` elements and more if `used`, and are 7 otherwise.
#[rustfmt::skip]
const BRANCHES: [(&str, &str); 10] = [
    ("product", "if used then i64.sum (reverse (opaque (replicate (n * n) 1))) else 7"),
    ("bytes", "if used then i64.sum (reverse (opaque (replicate n 1))) else 7"),
    ("rows", "if used then i64.sum (flatten (transpose (opaque (replicate n (replicate n 1))))) else 7"),
    ("concat", "if used then i64.sum (map i64.i8 (reverse (opaque (replicate n 1i8) ++ opaque (replicate n 1i8)))) else 7"),
    ("deep", "if used then (if n % 2 == 0 then i64.sum (reverse (opaque (replicate (n * 3) 1))) else i64.sum (reverse (opaque (replicate (n - 3) 1)))) else 7"),
    ("scan", "if used then (scan (+) 0 (flatten (opaque (replicate n (replicate 5 1)))))[n - 1] else 7"),
    ("match", "match (opaque used) case true -> i64.sum (map (\\i -> i64.sum (scan (+) 0 (replicate n i))) (iota n)) case false -> 7"),
    ("histogram", "if used then i64.sum (hist (+) 0 n (iota 3) (iota 3)) else 7"),
    ("shape", "if used then i64.sum (map i64.sum (unflatten (sized (n * n) (opaque (iota 4))))) else 7"),
    ("flat_loop", "if used then i64.sum (map (\\x -> if x > 3 then x else n) (flatten (opaque (replicate n (iota n))))) else 7"),
];

/// A size that overflows, and that the call does not use, has no effect.
pub fn check_branches(backend: Backend, compiler: &Compiler) {
    let mut text = String::new();
    for (name, expression) in BRANCHES {
        let _ = writeln!(
            text,
            "entry b_{name} (n: i64) (used: bool) : i64 = {expression}"
        );
    }
    let library = build_text(backend, compiler, &format!("branches_{backend}"), &text).unwrap();
    let mut calls = Calls::new(&library, 3);
    for (name, _) in BRANCHES {
        for n in EXTREMES {
            let mut call = |used: bool| {
                let values = [Value::from(n), Value::from(used)];
                calls.call_with(&format!("b_{name}"), &values)
            };
            let unused = call(false).map(|result| scalar(&result));
            assert!(
                matches!(unused, Ok(7)),
                "{name} {n}: expected 7, got {unused:?}"
            );
            // `n * n` can wrap to a small number, and the loop in `match` is endless or has no iterations.
            if !(0..1 << 59).contains(&n) && !["product", "match"].contains(&name) {
                let used = call(true);
                assert!(used.is_err(), "{name} {n}: {used:?}");
            }
        }
    }
    assert_eq!(calls.lost, 0);
}

#[rustfmt::skip]
const EXTREMES: [i64; 20] = [
    i64::MIN, i64::MIN + 1, -(1 << 32) - 1, -(1 << 31), -25, -1, 0, 1, 2, 24,
    3_037_000_500, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 59, 1 << 60, (1 << 61) + 1, 1 << 62, i64::MAX - 1, i64::MAX,
];

/// Expressions over an array `xss` of shape `[n][m]`, of which one is 0 and the other is huge, and a number `a`. The value
/// has no elements, or none can be computed.
#[rustfmt::skip]
const EMPTY: &[(&str, &str)] = &[
    ("flat", "flatten xss"),
    ("transposed", "flatten (copy (transpose xss))"),
    ("doubled", "flatten (xss ++ xss)"),
    ("beside", "flatten (map2 (++) xss xss)"),
    ("reversed", "flatten (reverse (transpose xss))"),
    ("rotated", "flatten (rotate a xss)"),
    ("scans", "flatten (map (scan (+) 0) xss)"),
    ("column_scans", "flatten (map (scan (+) 0) (transpose xss))"),
    ("repeated", "flatten (flatten (replicate a xss))"),
    ("from_column", "flatten xss[:, a:]"),
    ("from_row", "flatten xss[a:, :]"),
    ("backwards", "flatten xss[::-1, ::-1]"),
    ("strided", "flatten xss[::a, :m:a]"),
    ("tabulated", "flatten (tabulate_2d m n (\\j i -> xss[i, j]))"),
    ("added", "flatten (map2 (map2 (+)) xss xss)"),
    ("scattered", "flatten (scatter_2d (copy xss) (map (\\i -> (i, a)) (iota 4)) (iota 4))"),
    ("scattered_columns", "flatten (scatter (copy (transpose xss)) [a] [replicate n 3])"),
    ("updated", "flatten (copy xss with [:, a:] = xss[:, a:])"),
    ("updated_row", "flatten (copy xss with [a] = replicate m 7)"),
    ("sums", "map i64.sum xss"),
    ("column_sums", "map i64.sum (transpose xss)"),
    ("sum_of_rows", "reduce (map2 (+)) (replicate m 0) xss"),
    ("scan_of_rows", "flatten (scan (map2 (+)) (replicate m 0) xss)"),
    ("positive", "filter (> 0) (flatten xss)"),
    ("appended", "flatten (xss ++ [replicate m 0])"),
    ("histogram", "flatten (reduce_by_index (copy xss) (map2 (+)) (replicate m 0) [a] [replicate m 1])"),
    ("blocks", "flatten_3d (map (\\xs -> unflatten (sized (a * a) xs)) xss)"),
    ("cube", "flatten_3d (map transpose (replicate a xss))"),
    ("total", "[i64.sum (flatten xss), length (flatten xss)]"),
    ("product", "[i64.sum (replicate (n * m) 1), n * m]"),
];

/// Empty arrays of huge dimensions are valid arguments, and no size that depends on them is used unchecked.
pub fn check_empty(backend: Backend, compiler: &Compiler) {
    let mut text = String::new();
    for (name, expression) in EMPTY {
        let _ = writeln!(
            text,
            "entry {name} (n: i64) (m: i64) (a: i64) : []i64 = let xss = opaque (replicate n (replicate m 0)) in {expression}"
        );
    }
    let library = build_text(backend, compiler, &format!("empty_{backend}"), &text).unwrap();
    let mut calls = Calls::new(&library, 3);
    for (name, _) in EMPTY {
        for huge in [(1 << 61) - 1, 1 << 61, (1 << 62) + 1, i64::MAX] {
            for shape in [[0, huge], [huge, 0]] {
                for a in [0, 1, 3, -1, 1 << 61, i64::MIN, i64::MAX] {
                    match calls.call(name, &[shape[0], shape[1], a]) {
                        Ok(Value::Array(array)) => {
                            let found = array.to_vec::<i64>().unwrap();
                            let is_right = found.iter().all(|&x| x == 0);
                            assert!(is_right, "{name} {shape:?} {a}: {found:?}");
                        }
                        Ok(other) => panic!("{name} {shape:?} {a}: {other:?}"),
                        Err(_) => {}
                    }
                }
            }
        }
    }
    println!("{calls}, {}", compiler.version());
}
