-- Derivatives of reductions are correct in forward and in reverse mode: sums, products, extremes,
-- and operators of the program, of scalars, tuples and rows.

def gradient 'a (f: a -> f64) (x: a) : a = vjp f x 1

-- ==
-- entry: of_squares
-- input { [1f64, 2f64, 3f64] [1f64, 0f64, 1f64] } output { [2f64, 4f64, 6f64] 8f64 }
-- input { empty([0]f64) empty([0]f64) } output { empty([0]f64) 0f64 }
entry of_squares [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  let f xs = f64.sum (map (\x -> x * x) xs)
  in (gradient f xs, jvp f xs dir)

-- ==
-- entry: of_product
-- input { [1f64, 2f64, 3f64, 4f64] [1f64, 0f64, 0f64, 1f64] }
-- output { [24f64, 12f64, 8f64, 6f64] 30f64 }
-- input { [2f64, 0f64, 3f64] [1f64, 1f64, 1f64] } output { [0f64, 6f64, 0f64] 6f64 }
entry of_product [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  (gradient f64.product xs, jvp f64.product xs dir)

-- ==
-- entry: of_extremes
-- input { [1f64, 5f64, 3f64] [1f64, 2f64, 3f64] }
-- output { [0f64, 1f64, 0f64] [1f64, 0f64, 0f64] 2f64 1f64 }
entry of_extremes [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, [n]f64, f64, f64) =
  ( gradient f64.maximum xs
  , gradient f64.minimum xs
  , jvp f64.maximum xs dir
  , jvp f64.minimum xs dir
  )

-- The operator computes (1 + x) * (1 + y) - 1.
-- ==
-- entry: of_operator
-- input { [1f64, 2f64, 3f64] [1f64, 0f64, 1f64] } output { [12f64, 8f64, 6f64] 18f64 }
entry of_operator [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  let f xs = reduce (\x y -> x + y + x * y) 0 xs
  in (gradient f xs, jvp f xs dir)

-- The second component of the pair decides which first component is the result.
-- ==
-- entry: of_pairs
-- input { [1f64, 2f64, 3f64] [5f64, 9f64, 7f64] } output { [0f64, 1f64, 0f64] [0f64, 0f64, 0f64] }
entry of_pairs [n] (xs: [n]f64) (keys: [n]f64) : ([n]f64, [n]f64) =
  let larger (x, k) (y, l) = if k > l then (x, k) else (y, l)
  let f (xs, keys) = (reduce larger (0, -f64.inf) (zip xs keys)).0
  in vjp f (xs, keys) 1

-- ==
-- entry: of_rows
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { [[8f64, 12f64], [8f64, 12f64]] }
entry of_rows [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  let f xss = f64.sum (map (\x -> x * x) (reduce_comm (map2 (+)) (replicate m 0) xss))
  in gradient f xss

-- Each row is reduced, in a parallel loop.
-- ==
-- entry: of_each_row
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { [[2f64, 1f64], [4f64, 3f64]] }
entry of_each_row [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  gradient (\xss -> f64.sum (map f64.product xss)) xss
