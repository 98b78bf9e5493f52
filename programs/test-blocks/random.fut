-- Random inputs are generated values of the requested types, equal to those of `futhark test`, and
-- can be mixed with constants; the expected output can be that of the sequential backend.

-- ==
-- entry: length_and_size
-- random input { [10]i32 } output { 10i64 true }
-- random input { [0]i32 } output { 0i64 true }
entry length_and_size [n] (xs: [n]i32) : (i64, bool) = (n, length xs == n)

-- Generated floats lie between 0 and 1.
-- ==
-- entry: unit_interval
-- random input { [100]f32 [3][4]f64 f16 } output { true }
entry unit_interval (a: []f32) (b: [][]f64) (c: f16) : bool =
  all (\x -> x >= 0 && x <= 1) a && all (all (\x -> x >= 0 && x <= 1)) b && c >= 0 && c <= 1

-- ==
-- entry: scaled
-- random input { [20]i32 3i32 } auto output
-- "by one" random input { [20]i32 1 } auto output
-- random input { [2]i32 i32 } auto output
-- input { [1, 2] 3 } auto output
entry scaled (xs: []i32) (k: i32) : ([]i32, i32) = (map (* k) xs, i32.sum xs)

-- Every value uses the same seed, so two values of one type are equal.
-- ==
-- entry: first_twice
-- random input { [3]u8 [3]u8 bool } output { true }
entry first_twice (a: [3]u8) (b: [3]u8) (_: bool) : bool = and (map2 (==) a b)
