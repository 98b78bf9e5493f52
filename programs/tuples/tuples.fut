-- Tuples as parameters are opaque values with numbered fields; as results they
-- are several outputs, or one opaque value, depending on the compiler's version.

type pair 'a 'b = (a, b)

type named = (i32, f32)

entry make_named (x: i32) (y: f32) : (named, i32) = ((x, y), 0)

entry swap_named (p: named) : (f32, i32) = (p.1, p.0)

entry swap_pair (p: pair i32 f32) : pair f32 i32 = (p.1, p.0)

entry with_array (p: (i64, []f64)) : (i64, []f64) = (p.0 + 1, map (* 2) p.1)

entry nested (p: ((i32, f32), {a: i32, b: []f32})) : ((i32, f32), {a: i32, b: []f32}) = p

-- A parameter that is a pattern has no name.
entry anonymous (x: i32, y: i32) : i32 = x - y

entry array_of_pairs (xs: [](i32, f32)) : [](f32, i32) = map (\(x, y) -> (y, x)) xs

-- ==
-- entry: swapped
-- input { 1 2.5f32 } output { 2.5f32 1 2.5f32 1 }
-- input { -1 f32.nan } output { f32.nan -1 f32.nan -1 }
entry swapped (x: i32) (y: f32) : (f32, i32, f32, i32) =
  let (p, _) = make_named x y
  let (a, b) = swap_named p
  let (c, d) = swap_pair p
  in (a, b, c, d)

-- ==
-- entry: arrays
-- input { 1i64 [1f64, 2f64] } output { 2i64 [2f64, 4f64] }
-- input { 0i64 empty([0]f64) } output { 1i64 empty([0]f64) }
entry arrays (n: i64) (xs: []f64) : (i64, []f64) = with_array (n, xs)

-- ==
-- entry: inner
-- input { 1 2f32 3 [4f32] } output { 1 2f32 3 [4f32] }
entry inner (a: i32) (b: f32) (c: i32) (d: []f32) : (i32, f32, i32, []f32) =
  let (p, r) = nested ((a, b), {a = c, b = d})
  in (p.0, p.1, r.a, r.b)

-- ==
-- entry: difference
-- input { 5 7 } output { -2 }
entry difference (x: i32) (y: i32) : i32 = anonymous (x, y)

-- ==
-- entry: zipped
-- input { [1, 2] [3f32, 4f32] } output { [3f32, 4f32] [1, 2] }
-- input { empty([0]i32) empty([0]f32) } output { empty([0]f32) empty([0]i32) }
-- input { [1] [3f32, 4f32] } error: .*
entry zipped [n] (xs: [n]i32) (ys: [n]f32) : ([n]f32, [n]i32) =
  unzip (array_of_pairs (zip xs ys) :> [n](f32, i32))
