-- A small program whose generated C calls almost every function of the runtime that the corpus
-- calls: a new compiler is tried on it first (UPGRADING.md).

-- Numbers: every operator and function, and the conversions between types.

module of_integers (I: integral) = {
  def all (x: I.t) (y: I.t) : []I.t =
    let one = I.i32 1
    in [x I.+ y, x I.- y, x I.* y, x I./ y, x I.% y, x I.// y, x I.%% y, one I.** (y I.& one)]
       ++ [x I.& y, x I.| y, x I.^ y, I.not x, x I.<< one, x I.>> one, x I.>>> one, I.abs x]
       ++ [I.neg x, I.mul_hi x y, I.mad_hi x y one, I.sgn x, I.min x y, I.max x y]
       ++ [I.bool (x I.< y)]
       ++ [I.i32 (I.popc x), I.i32 (I.clz x), I.i32 (I.ctz x), I.i32 (I.get_bit 1 x), I.lowest]
}

module integers_i8 = of_integers i8
module integers_i64 = of_integers i64
module integers_u32 = of_integers u32

entry integers (x: i64) (y: i64) =
  ( integers_i8.all (i8.i64 x) (i8.i64 y)
  , integers_i64.all x y
  , integers_u32.all (u32.i64 x) (u32.i64 y)
  )

module of_floats (F: float) = {
  def functions (x: F.t) : []F.t =
    [F.sqrt x, F.cbrt x, F.exp x, F.log x, F.log2 x, F.log10 x, F.log1p x, F.sin x, F.cos x]
    ++ [F.tan x, F.asin x, F.acos x, F.atan x, F.sinh x, F.cosh x, F.tanh x, F.asinh x, F.atanh x]
    ++ [F.gamma x, F.acosh (F.exp x), F.lgamma x, F.erf x, F.erfc x, F.atan2 x x, F.hypot x x]
    ++ [x F.** x, x F.% x, F.mad x x x, F.fma x x x, F.lerp x x x, F.ceil x, F.floor x]
    ++ [F.trunc x, F.round x, F.abs x]
    ++ [F.sgn x, F.copysign x x, F.ldexp x 3, F.nextafter x x, F.from_bits (F.to_bits x), F.neg x]
    ++ [F.min x x, F.max x x, F.bool (F.isnan x || F.isinf x), x F./ x, x F.- x, F.lowest]

  def slopes (x: F.t) : []F.t =
    let f x = F.sum (map (\y -> y F.** x F.* F.sin (x F.** F.i32 2)) [x, F.exp x, F.sqrt x])
    in [jvp f x (F.i32 1), vjp f x (F.i32 1)]
}

module floats_f16 = of_floats f16
module floats_f32 = of_floats f32
module floats_f64 = of_floats f64

entry floats (x: f64) =
  ( floats_f16.functions (f16.f64 x)
  , floats_f32.functions (f32.f64 x)
  , floats_f64.functions x
  , floats_f64.slopes x
  )

entry conversions (x: f64) (n: i64) (b: bool) =
  let to_integers = (i8.f64 x, u16.f64 x, i64.u8 (u8.i64 n), u64.i8 (i8.i64 n), i32.bool b)
  let to_floats = (f16.i64 n, f32.u8 (u8.i64 n), f64.f16 (f16.f64 x), f64.bool b)
  in (to_integers, to_floats, bool.i64 n, bool.f64 x, u32.f16 (f16.f64 x))

-- Constants of the program, and the lowest numbers in every place.

def table : [3]i64 = opaque [i64.lowest, i64.highest, 7]
def powers : [8]f32 = opaque (map (\i -> 2 ** f32.i64 i) (iota 8))

-- ==
-- tags { unordered_loops unordered_bins }
-- entry: lowest
-- input { 2i64 [1i64, 2i64] }
-- output { [-9223372036854775808i64, -9223372036854775808i64] [1i64, -9223372036854775808i64]
--          [-9223372036854775808i64, 9223372036854775807i64, 7i64] 16f32 }
entry lowest (n: i64) (xs: []i64) : ([n]i64, []i64, [3]i64, f32) =
  (replicate n i64.lowest, copy xs with [n - 1] = i64.lowest, copy table, powers[n + 2])

-- Parallel loops.

-- ==
-- entry: loops
-- input { [3i32, 1i32, 2i32] [0i64, 2i64, 5i64] }
-- output { 6i32 3i32 [3i32, 4i32, 6i32] [3i32] [1i32, 2i32] [3i32, 0i32, 1i32]
--          [3i32, 9i32, 1i32] true }
entry loops [n] (xs: [n]i32) (is: [n]i64) =
  let (ys, zs) = partition (> 2) xs
  in ( i32.sum xs
     , reduce_comm i32.max i32.lowest xs
     , scan (+) 0 xs
     , filter (> 2) ys
     , zs
     , hist (+) 0 3 is xs
     , scatter (replicate 3 9) is xs
     , any (== 2) xs
     )

-- ==
-- entry: bins
-- input { [0i64, 2i64, 0i64] [1.5f64, 2f64, 3f64] }
-- output { [1.5f64, 9f64, 2f64] [4.5f64, 0f64, 2f64] [4.5f64, 0f64, 2f64] [1i64, 1i64, 3i64]
--          [9f64, 0f64, 2f64] [0i64, -9223372036854775808i64, 2i64] }
entry bins [n] (is: [n]i64) (xs: [n]f64) =
  let add_both (a, b) (c, d) = (a + c, b + d)
  let (sums, others) = unzip (reduce_by_index (replicate 3 (0, 1)) add_both (0, 0) is (zip xs is))
  in ( reduce_by_index (replicate 3 9) f64.min f64.highest is xs
     , reduce_by_index (replicate 3 0) (+) 0 is xs
     , sums
     , others
     , hist (\x y -> x * y + x + y) 0 3 is xs
     , spread 3 i64.lowest is is
     )

-- ==
-- entry: rows
-- input { [[1f32, 2f32], [3f32, 4f32]] 2i64 }
-- output { [3f32, 7f32] [4f32, 6f32] [[1f32, 3f32], [2f32, 4f32]] [[1f32, 3f32], [3f32, 7f32]]
--          [0i64, 1i64] }
entry rows [n] [m] (xss: [n][m]f32) (k: i64) =
  ( map f32.sum xss
  , reduce (map2 (+)) (replicate m 0) xss
  , copy (transpose xss)
  , map (scan (+) 0) xss
  , map (\i -> i64.sum (map (\j -> i * j % 5) (iota (i % k + 1)))) (iota n)
  )

entry products [n] [m] [k] (a: [n][m]f16) (b: [m][k]f16) : [n][k]f16 =
  map (\xs -> map (\ys -> f16.sum (map2 (*) xs ys)) (transpose b)) a

-- Memory: slices, concatenations, updates, sizes that data decide.

-- ==
-- entry: moved
-- input { [1i16, 2i16, 3i16, 4i16] [7i16] 2i64 }
-- output { [4i16, 3i16, 2i16, 1i16] [2i16, 4i16] [5i16, 5i16, 1i16, 2i16, 3i16, 4i16, 7i16]
--          [3i16, 4i16, 1i16, 2i16] [[1i16, 2i16], [3i16, 4i16]] [1i16, 2i16, 9i16, 4i16] }
entry moved (xs: []i16) (ys: []i16) (k: i64) =
  ( reverse xs
  , copy xs[1::2]
  , replicate k 5 ++ xs ++ ys
  , rotate k xs
  , copy (unflatten (sized (2 * 2) xs) :> [2][2]i16)
  , copy xs with [k] = 9
  )

-- ==
-- entry: consumed
-- input { [1i64, 2i64, 3i64] 2i64 } output { [1i64, 3i64, 6i64] [0i64, 1i64] 4i64 }
entry consumed [n] (xs: *[n]i64) (k: i64) : (*[n]i64, [k]i64, i64) =
  let sums = loop xs for i in 1..<n do xs with [i] = xs[i] + xs[i - 1]
  let doubled = loop x = 1 while x <= n do 2 * x
  in (sums, iota k, doubled)

entry divided (x: i64) (y: i64) (z: u8) : (i64, i64, u8) =
  (assert (x > i64.lowest) (x / y), x %% y, 200 / z)

entry sieved (n: i64) (m: i64) : [n][m]bool =
  tabulate n (\i ->
                loop flags = replicate m true
                for j < m / (i + 2) do
                  flags with [j * (i + 2)] = false)

-- ==
-- entry: compared
-- input { 1f64 2f64 3u8 200u8 7i64 } output { true true true true true true 1i64 1i64 }
entry compared (x: f64) (y: f64) (a: u8) (b: u8) (n: i64) =
  let (v, w) = (f16.f64 x, f16.f64 y)
  in (x < y, x <= y, v < w, v <= w, a < b, a <= b, n %% 3, n % 3)

-- ==
-- entry: ranges
-- input { 2i64 3i64 11i64 [true, false] } output { [2i64, 5i64, 8i64] [false, true] 2i64 }
entry ranges (a: i64) (step: i64) (b: i64) (flags: []bool) : ([]i64, []bool, i64) =
  (a..a + step..<b, copy (reverse flags), length (replicate a ()))

-- ==
-- entry: wrapped
-- input { [1i64, 2i64, 3i64] 4i64 } output { [2i64, 3i64, 1i64] }
entry wrapped [n] (xs: [n]i64) (k: i64) : [n]i64 = map (\i -> xs[(i + k) % n]) (iota n)
