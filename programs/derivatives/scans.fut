-- Derivatives of scans are correct in forward and in reverse mode: sums, products, extremes, and
-- operators of the program, of scalars, tuples and rows.

def gradient 'a (f: a -> f64) (x: a) : a = vjp f x 1
def total [n] (f: [n]f64 -> [n]f64) (xs: [n]f64) : f64 = f64.sum (f xs)

-- ==
-- tags { unordered_of_products unordered_of_operator }
-- entry: of_sums
-- input { [5f64, 6f64, 7f64] [1f64, 0f64, 1f64] } output { [6f64, 5f64, 3f64] 9f64 }
-- input { empty([0]f64) empty([0]f64) } output { empty([0]f64) 0f64 }
entry of_sums [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  let f xs = f64.sum (map2 (*) (tabulate n (\i -> f64.i64 i + 1)) (scan (+) 0 xs))
  in (gradient f xs, jvp f xs dir)

-- ==
-- entry: of_products
-- input { [2f64, 3f64, 4f64] [1f64, 0f64, 1f64] }
-- output { [16f64, 10f64, 6f64] [1f64, 3f64, 18f64] }
entry of_products [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, [n]f64) =
  (gradient (total (scan (*) 1)) xs, jvp (scan (*) 1) xs dir)

-- ==
-- entry: of_extremes
-- input { [1f64, 3f64, 2f64] } output { [1f64, 2f64, 0f64] [3f64, 0f64, 0f64] }
entry of_extremes [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  (gradient (total (scan f64.max (-f64.inf))) xs, gradient (total (scan f64.min f64.inf)) xs)

-- The operator computes (1 + x) * (1 + y) - 1.
-- ==
-- entry: of_operator
-- input { [1f64, 2f64, 3f64] [1f64, 0f64, 1f64] }
-- output { [16f64, 10f64, 6f64] [1f64, 3f64, 18f64] }
entry of_operator [n] (xs: [n]f64) (dir: [n]f64) : ([n]f64, [n]f64) =
  let f = scan (\x y -> x + y + x * y) 0
  in (gradient (total f) xs, jvp f xs dir)

-- A linear recurrence: y[i] = a[i] * y[i - 1] + b[i], with y = [1, 3, 10].
-- ==
-- entry: of_recurrence
-- input { [9f64, 2f64, 3f64] [1f64, 1f64, 1f64] } output { [0f64, 4f64, 3f64] [9f64, 4f64, 1f64] }
entry of_recurrence [n] (a: [n]f64) (b: [n]f64) : ([n]f64, [n]f64) =
  let compose (a, b) (c, d) = (a * c, b * c + d)
  let f (a, b) = f64.sum (map (.1) (scan compose (1, 0) (zip a b)))
  in vjp f (a, b) 1

-- ==
-- entry: of_rows
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { [[10f64, 16f64], [8f64, 12f64]] }
entry of_rows [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  let f xss = f64.sum (map (\x -> x * x) (flatten (scan (map2 (+)) (replicate m 0) xss)))
  in gradient f xss

-- ==
-- entry: of_each_row
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { [[3f64, 1f64], [5f64, 3f64]] }
entry of_each_row [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  gradient (\xss -> f64.sum (map (total (scan (*) 1)) xss)) xss
