//! Random sequences of operations on arrays, with arguments that the sequence uses as offsets, lengths, strides and
//! factors. A model in Rust computes each result.

use std::fmt::Write as _;

use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::{Library, Value};
use futhark_safe::{Backend, Error};

use crate::calls::Calls;
use crate::{build_text, scalar};

/// What a call with valid arguments returns, or what it must not do.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Array(Vec<i64>),
    /// The arguments are invalid.
    Invalid,
    /// The compiler's own arithmetic wraps, or elements are written in any order: an error or any array of a valid
    /// shape.
    Any,
    /// A correct call takes too long.
    Endless,
}
use Outcome::{Any, Array, Endless, Invalid};

/// An expression over the array `ys` and the arguments `p`, `q` and `r`.
pub struct Operation {
    pub name: &'static str,
    pub expression: &'static str,
    apply: fn(&[i64], [i64; 3]) -> Outcome,
}

const fn of(
    name: &'static str,
    expression: &'static str,
    apply: fn(&[i64], [i64; 3]) -> Outcome,
) -> Operation {
    Operation {
        name,
        expression,
        apply,
    }
}

impl Operation {
    /// Whether it selects every n-th element, for n other than one.
    fn is_strided(&self) -> bool {
        [":r", ":-1", ":2"]
            .iter()
            .any(|stride| self.expression.contains(&format!("{stride}]")))
    }
}

#[rustfmt::skip]
pub const OPERATIONS: &[Operation] = &[
    of("slice", "ys[p:q:r]", |ys, [p, q, r]| slice(ys, p, q, r)),
    of("slice_forward", "ys[p:q]", |ys, [p, q, _]| slice(ys, p, q, 1)),
    of("slice_backward", "ys[p:q:-1]", |ys, [p, q, _]| slice(ys, p, q, -1)),
    of("slice_twice", "let zs = ys[p:] in zs[:q:r]", |ys, [p, q, r]| match slice(ys, p, ys.len() as i64, 1) {
        Array(zs) if r > 0 => slice(&zs, 0, q, r),
        Array(zs) => slice(&zs, zs.len() as i64 - 1, q, r),
        other => other,
    }),
    of("rotate", "rotate p ys", |ys, [p, ..]| {
        let n = ys.len() as i64;
        Array((0..n).map(|i| ys[i.wrapping_add(p).rem_euclid(n) as usize]).collect())
    }),
    of("reverse", "reverse ys", |ys, _| Array(ys.iter().rev().copied().collect())),
    of("append", "ys ++ opaque (replicate p q) ++ ys", |ys, [p, q, _]| {
        allocated(&[p], |n| Array([ys, &vec![q; n], ys].concat()))
    }),
    of("prepend", "map (+ q) (iota p) ++ ys", |ys, [p, q, _]| {
        sized(&[p], |n| Array((0..n as i64).map(|i| i.wrapping_add(q)).chain(ys.iter().copied()).collect()))
    }),
    of("tile", "flatten (opaque (replicate p ys))", |ys, [p, ..]| {
        allocated(&[p, ys.len() as i64], |_| Array(ys.repeat(p as usize)))
    }),
    of("transpose", "flatten (transpose (unflatten (sized (p * q) ys)))", |ys, [p, q, _]| {
        rows(ys, p, q, |rows| {
            Array((0..q as usize).flat_map(|j| rows.iter().map(move |row| row[j])).collect())
        })
    }),
    of("scan_rows", "flatten (map (scan (+) 0) (unflatten (sized (p * q) ys)))", |ys, [p, q, _]| {
        rows(ys, p, q, |rows| Array(rows.iter().flat_map(|row| sums(row)).collect()))
    }),
    of("sum_columns", "map i64.sum (transpose (unflatten (sized (p * q) ys)))", |ys, [p, q, _]| {
        rows(ys, p, q, |rows| {
            Array((0..q as usize).map(|j| rows.iter().fold(0i64, |sum, row| sum.wrapping_add(row[j]))).collect())
        })
    }),
    of("transpose_blocks", "flatten_3d (map transpose (unflatten_3d (sized (p * q * 2) ys)))", |ys, [p, q, _]| {
        if !(0..=1 << 20).contains(&q) { return if p.min(q) < 0 { Invalid } else { Endless }; }
        rows(ys, p, 2 * q, |blocks| Array(blocks.iter().flat_map(|block| {
            (0..2).flat_map(move |k| (0..q as usize).map(move |j| block[2 * j + k]))
        }).collect()))
    }),
    of("corner", "let m = unflatten (sized (p * q) ys) in flatten m[r:, :r]", |ys, [p, q, r]| {
        rows(ys, p, q, |rows| match (slice(&vec![0; p as usize], r, p, 1), slice(&vec![0; q as usize], 0, r, 1)) {
            (Array(_), Array(_)) => Array(rows.iter().skip(r as usize).flat_map(|row| row[..r as usize].to_vec()).collect()),
            _ => Invalid,
        })
    }),
    of("mirrored_columns", "let m = unflatten (sized (p * q) ys) in flatten (copy (transpose m[::-1, ::r]))", |ys, [p, q, r]| {
        rows(ys, p, q, |rows| {
            let columns: Vec<i64> = (0..q).collect();
            let columns = if r >= 0 { slice(&columns, 0, q, r) } else { slice(&columns, q - 1, -1, r) };
            match columns {
                Array(columns) => Array(columns.iter().flat_map(|&j| rows.iter().rev().map(move |row| row[j as usize])).collect()),
                other => other,
            }
        })
    }),
    of("update", "copy ys with [p:q:r] = map (+ 100) ys[p:q:r]", |ys, [p, q, r]| {
        let places: Vec<i64> = (0..ys.len() as i64).collect();
        match slice(&places, p, q, r) {
            Array(places) => {
                let mut zs = ys.to_vec();
                places.iter().for_each(|&i| zs[i as usize] = ys[i as usize].wrapping_add(100));
                Array(zs)
            }
            other => other,
        }
    }),
    of("shift", "copy ys with [p:q] = copy ys[r:r + (q - p)]", |ys, [p, q, r]| {
        let length = q.wrapping_sub(p);
        match (slice(ys, p, q, 1), slice(ys, r, r.wrapping_add(length), 1)) {
            (Array(_), Array(from)) if from.len() as i64 == length => {
                let mut zs = ys.to_vec();
                zs.iter_mut().skip(p.max(0) as usize).zip(from).for_each(|(z, y)| *z = y);
                Array(zs)
            }
            (Any, _) | (_, Any) => Any,
            _ => Invalid,
        }
    }),
    of("update_block", "let m = copy (unflatten (sized (p * q) ys)) in flatten (m with [r:, ::2] = map (map (+ 1)) m[r:, ::2])", |ys, [p, q, r]| {
        rows(ys, p, q, |rows| match slice(&vec![0; p as usize], r, p, 1) {
            Array(_) => Array(rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, y)| {
                y.wrapping_add(i64::from(i as i64 >= r && j % 2 == 0))
            })).collect()),
            _ => Invalid,
        })
    }),
    of("gather", "map (\\i -> ys[p + q * i]) (iota r)", |ys, [p, q, r]| {
        let at = |i: i64| ys.get(usize::try_from(p.wrapping_add(q.wrapping_mul(i))).ok()?);
        sized(&[r], |n| (0..n as i64).map(|i| at(i).copied()).collect::<Option<_>>().map_or(Invalid, Array))
    }),
    of("range", "map (\\i -> ys[i]) (p..q..<r)", |ys, [p, q, r]| match q.checked_sub(p).zip(r.checked_sub(p)) {
        None => Any,
        Some((step, distance)) if step <= 0 || distance < 0 => Invalid,
        // The generated code adds them, which wraps, also in plain C.
        Some((step, distance)) if step.checked_add(distance).is_none() => Any,
        Some((step, distance)) => sized(&[distance / step + i64::from(distance % step != 0)], |n| {
            let at = |i: usize| ys.get(usize::try_from(p + step * i as i64).ok()?).copied();
            (0..n).map(at).collect::<Option<_>>().map_or(Invalid, Array)
        }),
    }),
    of("range_to", "(p..q...r)", |_, [p, q, r]| match q.checked_sub(p).zip(r.checked_sub(p)) {
        None => Any,
        Some((step, distance)) if step == 0 || distance.signum() * step.signum() < 0 => Invalid,
        // The generated code adds them, which wraps: the range is too short in plain C too.
        Some((step, distance)) if step.unsigned_abs().saturating_add(distance.unsigned_abs()) >= 1 << 63 => Any,
        Some((step, distance)) => match (distance / step).checked_add(1) {
            Some(count) => sized(&[count], |n| Array((0..n as i64).map(|i| p + step * i).collect())),
            None => Any,
        },
    }),
    of("scatter", "scatter (copy ys) (map (\\i -> p + q * i) (iota r)) (iota r)", |ys, [p, q, r]| {
        if r < 0 { return Any; }
        sized(&[r], |n| {
            let mut zs = ys.to_vec();
            for i in 0..n as i64 {
                let place = p.wrapping_add(q.wrapping_mul(i));
                if let Some(z) = usize::try_from(place).ok().and_then(|place| zs.get_mut(place)) {
                    *z = i;
                }
            }
            // Places may repeat.
            if q % 2 == 0 && r > 1 && q.unsigned_abs() >= 1 << 32 || q == 0 && r > 1 { Any } else { Array(zs) }
        })
    }),
    of("histogram", "reduce_by_index (opaque (replicate p 1)) (+) 0 (map (\\y -> y * q + r) ys) ys", |ys, [p, q, r]| {
        allocated(&[p], |n| {
            let mut zs = vec![1i64; n];
            for &y in ys {
                let place = y.wrapping_mul(q).wrapping_add(r);
                if let Some(z) = usize::try_from(place).ok().and_then(|place| zs.get_mut(place)) {
                    *z = z.wrapping_add(y);
                }
            }
            Array(zs)
        })
    }),
    of("inner_arrays", "map (\\y -> i64.sum (reverse (opaque (map (+ y) (iota (p - q)))))) ys", |ys, [p, q, _]| {
        let length = p.wrapping_sub(q);
        if ys.is_empty() { return Any; }
        allocated(&[length], |n| Array(ys.iter().map(|&y| {
            (0..n as i64).fold(0i64, |sum, i| sum.wrapping_add(i.wrapping_add(y)))
        }).collect()))
    }),
    of("inner_scan", "flatten (map (\\y -> scan (+) 0 (replicate p (y + q))) ys)", |ys, [p, q, _]| {
        sized(&[p, ys.len() as i64], |_| Array(ys.iter().flat_map(|&y| {
            sums(&vec![y.wrapping_add(q); p as usize])
        }).collect()))
    }),
    of("product", "replicate (p * q) r", |_, [p, q, r]| {
        sized(&[p.wrapping_mul(q)], |n| Array(vec![r; n]))
    }),
    of("narrow", "map (+ r) (iota (i64.i32 (i32.i64 p)))", |_, [p, _, r]| {
        sized(&[i64::from(p as i32)], |n| Array((0..n as i64).map(|i| i.wrapping_add(r)).collect()))
    }),
    of("grow", "loop zs = ys for _i < p do zs[q:] ++ [length zs]", |ys, [p, q, _]| {
        let mut zs = ys.to_vec();
        if p > 100 { return Endless; }
        for _ in 0..p {
            let length = zs.len() as i64;
            match slice(&zs, q, length, 1) {
                Array(rest) => zs = rest,
                other => return other,
            }
            zs.push(length);
        }
        Array(zs)
    }),
    of("divide", "map (\\y -> y / p + y %% q) ys", |ys, [p, q, _]| {
        if p == 0 || q == 0 { return if ys.is_empty() { Any } else { Invalid }; }
        if ys.contains(&i64::MIN) && (p == -1 || q == -1) { return Any; }
        let floor = |y: i64| y.wrapping_div(p) - i64::from(y.wrapping_rem(p) != 0 && (y < 0) != (p < 0));
        Array(ys.iter().map(|&y| floor(y).wrapping_add(y.wrapping_rem(q))).collect())
    }),
    of("split", "let (a: [p]i64, b: [q]i64) = split (sized (p + q) ys) in b ++ a", |ys, [p, q, _]| {
        if p < 0 || q < 0 || p.checked_add(q) != Some(ys.len() as i64) { return Invalid; }
        Array([&ys[p as usize..], &ys[..p as usize]].concat())
    }),
    of("two_lengths", "let [k] (zs: [k]i64) = ys[p:] in map2 (+) zs (ys[:q] :> [k]i64)", |ys, [p, q, _]| {
        match (slice(ys, p, ys.len() as i64, 1), slice(ys, 0, q, 1)) {
            (Array(a), Array(b)) if a.len() == b.len() => Array(a.iter().zip(b).map(|(a, b)| a.wrapping_add(b)).collect()),
            _ => Invalid,
        }
    }),
    of("filtered", "filter (\\y -> y % 3 != p) ys", |ys, [p, ..]| {
        Array(ys.iter().copied().filter(|y| y.rem_euclid(3) != p).collect())
    }),
];

/// `ys[start:end:stride]`. The compilers compute the number of elements in arithmetic that wraps.
fn slice(ys: &[i64], start: i64, end: i64, stride: i64) -> Outcome {
    if stride == 0 {
        return Invalid;
    }
    let (length, wide) = (ys.len() as i128, |n: i64| i128::from(n));
    let sum = wide(end) - wide(start) + wide(stride) - wide(stride.signum());
    if i64::try_from(sum).is_err() {
        return Any;
    }
    let count = sum / wide(stride);
    if count == 0 {
        return Array(Vec::new());
    }
    let last = wide(start) + (count - 1) * wide(stride);
    let inside = |i: i128| (0..length).contains(&i);
    let directed = (end >= start) == (stride > 0) && end >= -1;
    if count < 0 || !directed || !inside(start.into()) || !inside(last) {
        return Invalid;
    }
    let place = |i: i128| ys[(wide(start) + i * wide(stride)) as usize];
    Array((0..count).map(place).collect())
}

/// The number of elements of an array of this shape; otherwise the outcome if it is in memory.
fn allocated(shape: &[i64], value: impl FnOnce(usize) -> Outcome) -> Outcome {
    if shape.iter().any(|&dim| dim < 0) {
        return Invalid;
    }
    let product = |count: i64, &dim: &i64| count.checked_mul(dim);
    match shape.iter().try_fold(1, product) {
        Some(0) if shape.iter().any(|&dim| dim > 1 << 20) => Endless,
        Some(count) if count <= 1 << 12 => value(count as usize),
        Some(count) if count < 1 << 44 => Endless,
        _ => Invalid,
    }
}

/// The same for an array that a loop can replace.
fn sized(shape: &[i64], value: impl FnOnce(usize) -> Outcome) -> Outcome {
    if shape.iter().any(|&dim| dim < 0) {
        return Any;
    }
    match allocated(shape, |_| Any) {
        Any => value(shape.iter().product::<i64>() as usize),
        _ => Endless,
    }
}

/// The rows of `unflatten (sized (p * q) ys)`.
fn rows(ys: &[i64], p: i64, q: i64, value: impl FnOnce(Vec<Vec<i64>>) -> Outcome) -> Outcome {
    // Without elements, the array is perhaps never made.
    if ys.is_empty() && p.checked_mul(q) == Some(0) && p.min(q) < 0 {
        return Any;
    }
    if p < 0 || q < 0 || p.checked_mul(q) != Some(ys.len() as i64) {
        return Invalid;
    }
    if p.max(q) > 1 << 20 {
        return Endless;
    }
    let row = |i: i64| ys[(i * q) as usize..((i + 1) * q) as usize].to_vec();
    value((0..p).map(row).collect())
}

fn sums(ys: &[i64]) -> Vec<i64> {
    let next = |sum: &mut i64, y: &i64| {
        *sum = sum.wrapping_add(*y);
        Some(*sum)
    };
    ys.iter().scan(0, next).collect()
}

/// Three operations in a row, each with three arguments of its own.
pub struct Pipeline {
    steps: [&'static Operation; 3],
    opaque: [bool; 2],
}

impl Pipeline {
    pub fn random(random: &mut Random) -> Pipeline {
        let steps = [0; 3].map(|_| random.one_of(OPERATIONS));
        let mut opaque = [0; 2].map(|_| random.below(3) == 0);
        // The compilers read outside of a `replicate` that a slice with a stride makes shorter
        // (programs/errors/strided_replicate.fut).
        for (i, is_opaque) in opaque.iter_mut().enumerate() {
            *is_opaque |=
                steps[i].name == "product" && steps[i + 1..].iter().any(|step| step.is_strided());
        }
        Pipeline { steps, opaque }
    }

    pub fn name(&self) -> String {
        self.steps.map(|step| step.name).join(", ")
    }

    /// The value of a call with these elements.
    pub fn value(&self, xs: &[i64], arguments: &[i64; 9]) -> Outcome {
        let (mut ys, mut unsure) = (xs.to_vec(), false);
        for (i, arguments) in arguments.as_chunks().0.iter().enumerate() {
            let step = self.steps[i];
            let is_fused = self.opaque.get(i) == Some(&false);
            // The compiler removes what a later step does not use, and elements that it slices away.
            let is_removed = self.steps[i + 1..]
                .iter()
                .any(|later| !later.expression.contains("ys"))
                || is_fused && step.expression.starts_with("map ");
            match (step.apply)(&ys, *arguments) {
                Array(zs) => {
                    ys = zs;
                    // Slices of ranges are wrong in plain C too (programs/versions/sliced_ranges.fut), and a map that
                    // indexes a `replicate` does not check its indices.
                    unsure |= is_fused && ["range", "range_to", "product"].contains(&step.name);
                }
                Endless => return Endless,
                Invalid if !is_removed && !unsure => return Invalid,
                _ => (ys, unsure) = (Vec::new(), true),
            }
        }
        if unsure { Any } else { Array(ys) }
    }

    /// The value of a call of an entry point.
    fn expected(&self, entry: &str, arguments: &[i64; 9]) -> Outcome {
        let rows = match entry {
            "array" => return self.value(&ELEMENTS, arguments),
            "total" => 1,
            _ => 5,
        };
        let mut totals = Vec::new();
        for k in 0..rows {
            match self.value(&ELEMENTS.map(|x| x + k), arguments) {
                Array(zs) => totals.push(checksum(&zs)),
                other => return other,
            }
        }
        Array(totals)
    }

    /// Arguments with which most of the steps succeed.
    pub fn arguments(&self, xs: &[i64], random: &mut Random) -> [i64; 9] {
        let mut ys = xs.to_vec();
        let mut all = [0; 9];
        for (step, place) in self.steps.iter().zip(all.as_chunks_mut().0) {
            for _ in 0..=random.below(12) {
                *place = random.arguments(ys.len() as i64);
                if let Array(zs) = (step.apply)(&ys, *place) {
                    ys = zs;
                    break;
                }
            }
        }
        all
    }

    /// The expression for the result of all steps on the array `xs`.
    fn expression(&self, xs: &str) -> String {
        let [first, second, third] = self.steps.map(|step| step.name);
        let [inner, outer] = self.opaque.map(|opaque| if opaque { "opaque" } else { "" });
        format!("o_{third} ({outer} (o_{second} ({inner} (o_{first} ({xs}) a b c)) d e f)) g h i")
    }
}

/// The text of a program with three entry points for each pipeline.
pub fn program(pipelines: &[Pipeline]) -> String {
    let mut text = String::from(
        "def checksum [n] (xs: [n]i64) : i64 = i64.sum (map2 (\\x i -> x * (2 * i + 1)) xs (iota n)) + n\n",
    );
    for Operation {
        name, expression, ..
    } in OPERATIONS
    {
        let _ = writeln!(
            text,
            "def o_{name} [n] (ys: [n]i64) (p: i64) (q: i64) (r: i64) : []i64 = {expression}"
        );
    }
    for (i, pipeline) in pipelines.iter().enumerate() {
        let once = pipeline.expression("xs");
        let rows = pipeline.expression("map (+ k) xs");
        for (entry, result, value) in [
            ("array", "[]i64", once.clone()),
            ("total", "i64", format!("checksum ({once})")),
            (
                "rows",
                "[]i64",
                format!("map (\\k -> checksum ({rows})) (iota 5)"),
            ),
        ] {
            let _ = writeln!(
                text,
                "entry {entry}_{i} (xs: []i64) (a: i64) (b: i64) (c: i64) (d: i64) (e: i64) (f: i64) (g: i64) \
                 (h: i64) (i: i64) : {result} = {value}"
            );
        }
    }
    text
}

/// The function of the same name in the program.
pub fn checksum(xs: &[i64]) -> i64 {
    let weighted = xs
        .iter()
        .zip(0i64..)
        .map(|(x, i)| x.wrapping_mul(2 * i + 1));
    weighted.fold(xs.len() as i64, i64::wrapping_add)
}

/// The same numbers in each run.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    fn one_of<T>(&mut self, all: &'static [T]) -> &'static T {
        &all[self.below(all.len())]
    }

    /// Arguments for an operation on an array of `length` elements.
    fn arguments(&mut self, length: i64) -> [i64; 3] {
        let mut all = [0; 3].map(|_| match self.below(6) {
            0 => *self.one_of(EXTREMES),
            1 => length + self.below(3) as i64 - 1,
            2 => self.below(length as usize + 1) as i64,
            _ => self.below(9) as i64 - 3,
        });
        match self.below(4) {
            // Factors of the length, or factors whose product wraps to it.
            0 => {
                let p = 1 + self.below(length.max(1) as usize) as i64;
                let q = length / p;
                let high = *self.one_of(&[0, i64::MIN, 1 << 62, 1 << 61, 3 << 60, 1 << 32]);
                (all[0], all[1]) = match self.below(4) {
                    0 => (-p, -q),
                    1 => (p, q.wrapping_add(high)),
                    2 => (p.wrapping_add(high), q),
                    _ => (p, q),
                };
            }
            1 => (all[0], all[1]) = *self.one_of(WRAPPING),
            _ => {}
        }
        all
    }
}

#[rustfmt::skip]
const EXTREMES: &[i64] = &[
    i64::MIN, i64::MIN + 1, -(1 << 62), -(1 << 32) - 1, -(1 << 31) - 1, -(1 << 31),
    (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 59) - 1,
    1 << 59, (1 << 60) - 1, 1 << 60, (1 << 60) + 1, (1 << 61) - 1, 1 << 61, (1 << 62) + 1, i64::MAX - 1, i64::MAX,
];

/// Factors whose product is 2^64, or a little more or less, and those whose product is in range but not in bytes.
#[rustfmt::skip]
const WRAPPING: &[(i64, i64)] = &[
    (1 << 32, 1 << 32), (-(1 << 32), 1 << 32), (1 << 33, 1 << 31), (1 << 62, 4), ((1 << 62) + 1, 4), (i64::MIN, 2), (i64::MIN + 1, 2),
    (1 << 31, 1 << 30), (1 << 31, (1 << 30) - 1), ((1 << 31) - 1, (1 << 31) + 1), (1 << 30, 1 << 29), (1 << 30, 1 << 30),
    (3, 0x5555_5555_5555_5556), (-5, -3),
];

/// Builds `count` pipelines, and calls each entry point with `tries` lists of arguments and each number of threads.
pub fn check(
    backend: Backend,
    compiler: &Compiler,
    threads: &[usize],
    seed: u64,
    [count, tries]: [usize; 2],
) {
    let mut random = Random(fastrand::Rng::with_seed(seed));
    let pipelines: Vec<Pipeline> = (0..count).map(|_| Pipeline::random(&mut random)).collect();
    let name = format!("pipelines_{backend}_{count}_{seed}");
    let library = build_text(backend, compiler, &name, &program(&pipelines)).unwrap();
    for &threads in threads {
        call_all(&library, &pipelines, threads, tries, &mut random);
    }
}

fn call_all(
    library: &Library,
    pipelines: &[Pipeline],
    threads: usize,
    tries: usize,
    random: &mut Random,
) {
    let mut calls = Calls::with(library, Some(threads), |context| {
        Some(context.array(&ELEMENTS).unwrap().into())
    });
    let mut seen = Seen::default();
    for (i, pipeline) in pipelines.iter().enumerate() {
        for _ in 0..tries {
            let arguments = pipeline.arguments(&ELEMENTS, random);
            for entry in ["array", "total", "rows"] {
                let expected = pipeline.expected(entry, &arguments);
                if expected == Endless {
                    continue;
                }
                let case = format!("{entry}_{i} ({}) {arguments:?}", pipeline.name());
                let result = calls.call(&format!("{entry}_{i}"), &arguments);
                seen.add(&case, expected, result, &arguments);
            }
        }
    }
    let excused = seen.excused;
    println!("{calls}, {excused} excused, with {threads} threads");
    let first = &seen.wrong[..seen.wrong.len().min(20)];
    assert!(first.is_empty(), "{} wrong: {first:#?}", seen.wrong.len());
    let (count, errors) = (calls.calls, calls.errors);
    assert!(count - errors > count / 10 && errors > count / 20);
}

/// The elements of the argument.
const ELEMENTS: [i64; 24] = {
    let mut all = [0; 24];
    let mut i = 0;
    while i < 24 {
        all[i] = i as i64 * 3 + 1;
        i += 1;
    }
    all
};

/// What is unexpected in the results of the calls.
#[derive(Default)]
struct Seen {
    /// Errors for valid arguments, of which one is so large that an intermediate number can overflow.
    excused: usize,
    wrong: Vec<String>,
}

impl Seen {
    fn add(
        &mut self,
        case: &str,
        expected: Outcome,
        result: Result<Value, Error>,
        arguments: &[i64; 9],
    ) {
        let found = result.map(|result| match result {
            Value::Array(array) => array.to_vec::<i64>().unwrap(),
            total => vec![scalar(&total)],
        });
        let is_right = match (&expected, &found) {
            (Any, _) | (Invalid, Err(_)) => true,
            (Array(expected), Ok(found)) => expected == found,
            (Array(_), Err(_)) => {
                let excused = arguments.iter().any(|n| n.unsigned_abs() >= 1 << 31);
                self.excused += usize::from(excused);
                excused
            }
            _ => false,
        };
        if !is_right {
            self.wrong
                .push(format!("{case}: expected {expected:?}, got {found:?}"));
        }
    }
}
