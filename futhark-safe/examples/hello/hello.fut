-- Scalars, and arrays of one and two dimensions.

-- | The mean of some numbers.
entry mean [n] (xs: [n]f64) : f64 = f64.sum xs / f64.i64 n

-- | `a * x + y` for each pair. Both arrays have the same length, `n`.
entry axpy [n] (a: f64) (xs: [n]f64) (ys: [n]f64) : [n]f64 =
  map2 (\x y -> a * x + y) xs ys

-- | The table of products from 1 * 1 to `n` * `m`.
entry products (n: i64) (m: i64) : [n][m]i64 =
  tabulate_2d n m (\i j -> (i + 1) * (j + 1))

-- | The sums of the rows and of the columns: two results.
entry sums [n] [m] (xs: [n][m]i64) : ([n]i64, [m]i64) =
  (map i64.sum xs, map i64.sum (transpose xs))
