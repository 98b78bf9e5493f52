-- Derivatives of functions that only move values are correct in forward and in reverse mode:
-- slices, strides, concatenations, rotations, transpositions, repetitions.

-- The weights of the result are 1, 2, 3, ...
def weighted [n] (xs: [n]f64) : f64 = f64.sum (map2 (\i x -> f64.i64 (i + 1) * x) (iota n) xs)

-- ==
-- entry: of_slice
-- input { [1f64, 2f64, 3f64, 4f64] } output { [0f64, 1f64, 2f64, 0f64] }
entry of_slice (xs: [4]f64) : [4]f64 = vjp (\xs -> weighted xs[1:3]) xs 1

-- ==
-- entry: of_stride
-- input { [1f64, 2f64, 3f64, 4f64] } output { [1f64, 0f64, 2f64, 0f64] }
entry of_stride [n] (xs: [n]f64) : [n]f64 = vjp (\xs -> weighted xs[::2]) xs 1

-- ==
-- entry: of_reverse
-- input { [1f64, 2f64, 3f64] } output { [3f64, 2f64, 1f64] [3f64, 2f64, 1f64] }
entry of_reverse [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  (vjp (\xs -> weighted (reverse xs)) xs 1, jvp reverse xs xs)

-- ==
-- entry: of_concatenation
-- input { [1f64, 2f64] [3f64] } output { [1f64, 2f64] [3f64] }
-- input { empty([0]f64) [3f64] } output { empty([0]f64) [1f64] }
entry of_concatenation [n] [m] (xs: [n]f64) (ys: [m]f64) : ([n]f64, [m]f64) =
  vjp (\(xs, ys) -> weighted (xs ++ ys)) (xs, ys) 1

-- ==
-- entry: of_rotation
-- input { [1f64, 2f64, 3f64] 1i64 } output { [3f64, 1f64, 2f64] }
entry of_rotation [n] (xs: [n]f64) (r: i64) : [n]f64 = vjp (\xs -> weighted (rotate r xs)) xs 1

-- ==
-- entry: of_transposition
-- input { [[1f64, 2f64, 3f64], [4f64, 5f64, 6f64]] }
-- output { [[1f64, 3f64, 5f64], [2f64, 4f64, 6f64]] }
entry of_transposition [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  vjp (\xss -> weighted (flatten (transpose xss))) xss 1

-- ==
-- entry: of_repetition
-- input { 2f64 3i64 } output { 6f64 [1f64, 1f64, 1f64] }
entry of_repetition (x: f64) (n: i64) : (f64, [n]f64) =
  (vjp (\x -> weighted (replicate n x)) x 1, jvp (replicate n) x 1)

-- ==
-- entry: of_repeated_rows
-- input { [1f64, 2f64] } output { [4f64, 6f64] }
entry of_repeated_rows [m] (xs: [m]f64) : [m]f64 =
  vjp (\xs -> weighted (flatten (replicate 2 xs))) xs 1

-- ==
-- entry: of_literal
-- input { 2f64 3f64 } output { 4f64 2f64 }
entry of_literal (x: f64) (y: f64) : (f64, f64) = vjp (\(x, y) -> weighted [x, y, x]) (x, y) 1
