//! The language constructs that create an array of a size that is an argument.

/// An expression over `xs` (24 sevens) and the arguments `a`, `b`, `c`, `d`. All elements of its
/// value are sevens.
#[derive(Clone, Copy)]
pub struct Construct {
    pub name: &'static str,
    /// The number of arguments.
    pub arity: usize,
    /// The element type.
    pub elem: &'static str,
    pub expression: &'static str,
    pub rank: usize,
    /// The expected shape, in which a dimension may be negative or too large; `None` if the
    /// arguments are invalid for another reason.
    pub shape: fn(&[i128]) -> Option<Vec<i128>>,
    /// Whether the number of iterations of an empty loop is an argument.
    pub loops: bool,
    /// Whether the compiler's own arithmetic overflows for huge arguments.
    pub wraps: bool,
}

/// The length of `xs`.
const LENGTH: i128 = 24;

const fn of(
    name: &'static str,
    arity: usize,
    rank: usize,
    expression: &'static str,
    shape: fn(&[i128]) -> Option<Vec<i128>>,
) -> Construct {
    Construct {
        name,
        arity,
        elem: "i32",
        expression,
        rank,
        shape,
        loops: false,
        wraps: false,
    }
}

impl Construct {
    const fn bytes(mut self) -> Construct {
        self.elem = "u8";
        self
    }

    const fn wraps(mut self) -> Construct {
        self.wraps = true;
        self
    }

    const fn loops(mut self) -> Construct {
        self.loops = true;
        self
    }
}

/// The shape of the slice `xs[start:end:stride]`.
fn slice(start: i128, end: i128, stride: i128) -> Option<Vec<i128>> {
    if stride == 0 {
        return None;
    }
    let distance = end - start;
    let count = (distance + stride - stride.signum()) / stride;
    if count == 0 {
        return Some(vec![0]);
    }
    let last = start + (count - 1) * stride;
    let inside = |i: i128| (0..LENGTH).contains(&i);
    let forward = distance.signum() == stride.signum() && end >= -1;
    (count > 0 && forward && inside(start) && inside(last)).then(|| vec![count])
}

fn shape(dims: &[i128]) -> Option<Vec<i128>> {
    Some(dims.to_vec())
}

pub const CONSTRUCTS: &[Construct] = &[
    of("replicate1", 1, 1, "replicate a 7i32", shape),
    of("replicate2", 2, 2, "replicate a (replicate b 7i32)", shape),
    of("replicate3", 3, 3, "replicate a (replicate b (replicate c 7i32))", shape),
    of("replicate4", 4, 4, "replicate a (replicate b (replicate c (replicate d 7i32)))", shape),
    of("bytes1", 1, 1, "replicate a 7u8", shape).bytes(),
    of("bytes2", 2, 2, "replicate a (replicate b 7u8)", shape).bytes(),
    of("bytes3", 3, 3, "replicate a (replicate b (replicate c 7u8))", shape).bytes(),
    of("iota1", 1, 1, "map (const 7i32) (iota a)", shape),
    of("range1", 2, 1, "map (const 7i32) (a..<b)", |x| Some(vec![x[1] - x[0]])),
    of("tabulate1", 1, 1, "tabulate a (const 7i32)", shape),
    of("tabulate2", 2, 2, "tabulate_2d a b (\\_ _ -> 7i32)", shape),
    of("tabulate3", 3, 3, "tabulate_3d a b c (\\_ _ _ -> 7i32)", shape),
    of("rows2", 2, 2, "map (\\x -> replicate b x) (replicate a 7i32)", shape),
    of("take1", 1, 1, "take a xs", |x| slice(0, x[0], 1).filter(|_| x[0] >= 0)),
    of("drop1", 1, 1, "drop a xs", |x| slice(x[0], LENGTH, 1).filter(|_| x[0] >= 0)),
    of("slice1", 2, 1, "xs[a:b]", |x| slice(x[0], x[1], 1)),
    of("strided1", 3, 1, "xs[a:b:c]", |x| slice(x[0], x[1], x[2])).wraps(),
    of("backwards1", 2, 1, "xs[a:b:-1]", |x| slice(x[0], x[1], -1)),
    of("from1", 1, 1, "xs[a::-1]", |x| slice(x[0], -1, -1)),
    of("rotate1", 1, 1, "rotate a xs", |_| Some(vec![LENGTH])),
    of("unflatten2", 2, 2, "unflatten (sized (a*b) xs)", |x| {
        shape(x).filter(|_| x[0] * x[1] == LENGTH)
    }),
    of("unflatten3", 3, 3, "unflatten_3d (sized (a*b*c) xs)", |x| {
        shape(x).filter(|_| x[0].checked_mul(x[1]).and_then(|ab| ab.checked_mul(x[2])) == Some(LENGTH))
    }),
    of("concat1", 2, 1, "replicate a 7i32 ++ replicate b 7", |x| {
        Some(vec![if x[0].min(x[1]) < 0 { -1 } else { x[0] + x[1] }])
    }),
    of("concat2", 3, 2, "replicate a (replicate c 7i32) ++ replicate b (replicate c 7)", |x| {
        Some(vec![if x[0].min(x[1]) < 0 { -1 } else { x[0] + x[1] }, x[2]])
    }),
    of("append1", 1, 1, "[7i32, 7] ++ replicate a 7 ++ xs", |x| {
        Some(vec![if x[0] < 0 { -1 } else { x[0] + 2 + LENGTH }])
    }),
    of("grown1", 2, 1, "loop ys = xs for _i < 2i64 do ys ++ replicate a 7i32 ++ replicate b 7", |x| {
        Some(vec![if x[0].min(x[1]) < 0 { -1 } else { LENGTH + 2 * (x[0] + x[1]) }])
    }),
    of("last2", 2, 2, "map (\\x -> replicate (a - 1) x ++ [x]) (replicate b 7i32)", |x| {
        Some(vec![x[1], if x[0] < 1 { -1 } else { x[0] }])
    }),
    of("rows_concat2", 2, 2, "map (\\x -> replicate a x ++ replicate b 7) xs", |x| {
        Some(vec![LENGTH, if x[0].min(x[1]) < 0 { -1 } else { x[0] + x[1] }])
    }),
    of("inner3", 2, 3, "map (\\x -> opaque (replicate a (replicate b x))) xs", |x| Some(vec![LENGTH, x[0], x[1]])),
    of("scratch1", 1, 1, "map (\\x -> i32.sum (flatten (transpose (opaque (replicate a (replicate a x))))) / i32.i64 (a * a)) xs", |x| {
        (x[0] > 0).then(|| vec![LENGTH])
    }),
    of("filter1", 1, 1, "filter (> 6) (replicate a 7i32)", shape),
    of("difference2", 2, 2, "replicate (a - b) (replicate (b - a) 7i32)", |x| {
        Some(vec![wrap(x[0] - x[1]), wrap(x[1] - x[0])])
    }),
    of("product2", 3, 2, "replicate (a * b) (replicate c 7i32)", |x| {
        Some(vec![wrap(x[0].wrapping_mul(x[1])), x[2]])
    }),
    of("quotient2", 2, 2, "replicate (a / b) (replicate (a // b) 7i32)", |x| {
        (x[1] != 0).then(|| vec![x[0].div_euclid(x[1]) - floor(x), x[0] / x[1]])
    }),
    of("transposed3", 3, 3, "map transpose (replicate a (replicate b (replicate c 7i32)))", |x| {
        Some(vec![x[0], x[2], x[1]])
    }),
    of("units2", 2, 2, "let (u, v) = (opaque (replicate a ()), opaque (replicate b ())) in replicate (length u) (replicate (length v) 7i32)", shape).loops(),
    of("scattered1", 1, 1, "scatter (replicate a 7i32) (iota 2) [7, 7]", shape),
    of("histogram1", 1, 1, "reduce_by_index (replicate a 7i32) (+) 0 [0, -1] [0, 0]", shape),
    of("branch2", 2, 2, "if a > 0 || b < 0 then replicate a (replicate b 7i32) else replicate 1 (replicate 1 7)", |x| {
        if x[0] > 0 || x[1] < 0 { shape(x) } else { Some(vec![1, 1]) }
    }),
];

/// The correction of `div_euclid` for negative divisors: Futhark's `/` rounds towards negative
/// infinity.
fn floor(x: &[i128]) -> i128 {
    i128::from(x[1] < 0 && x[0].rem_euclid(x[1]) != 0)
}

/// Futhark's arithmetic on `i64`.
fn wrap(x: i128) -> i128 {
    i128::from(x as i64)
}
