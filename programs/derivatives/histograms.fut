-- Derivatives of histograms are correct in forward and in reverse mode: sums, products and
-- extremes. Values whose bin does not exist have no influence.

def gradient 'a (f: a -> f64) (x: a) : a = vjp f x 1

-- The sum of squares of the bins.
def of [n] op ne (is: [n]i64) (xs: [n]f64) : f64 =
  f64.sum (map (\x -> x * x) (hist op ne 3 is xs))

-- ==
-- entry: of_sums
-- input { [0i64, 2i64, 0i64, 9i64] [1f64, 2f64, 3f64, 4f64] [1f64, 0f64, 1f64, 1f64] }
-- output { [8f64, 4f64, 8f64, 0f64] 16f64 }
entry of_sums [n] (is: [n]i64) (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  (gradient (of (+) 0 is) xs, jvp (of (+) 0 is) xs dir)

-- ==
-- entry: of_products
-- input { [0i64, 2i64, 0i64, 9i64] [1f64, 2f64, 3f64, 4f64] [1f64, 0f64, 1f64, 1f64] }
-- output { [18f64, 4f64, 6f64, 0f64] 24f64 }
entry of_products [n] (is: [n]i64) (xs: [n]f64) (dir: [n]f64) : ([n]f64, f64) =
  (gradient (of (*) 1 is) xs, jvp (of (*) 1 is) xs dir)

-- ==
-- entry: of_extremes
-- input { [0i64, 2i64, 0i64, 9i64] [1f64, 2f64, 3f64, 4f64] }
-- output { [0f64, 4f64, 6f64, 0f64] [2f64, 4f64, 0f64, 0f64] }
entry of_extremes [n] (is: [n]i64) (xs: [n]f64) : ([n]f64, [n]f64) =
  (gradient (of f64.max 0 is) xs, gradient (of f64.min 9 is) xs)

-- ==
-- entry: of_updates
-- input { [1f64, 1f64, 1f64] [0i64, 2i64, 0i64] [1f64, 2f64, 3f64] }
-- output { [10f64, 2f64, 6f64] [10f64, 6f64, 10f64] }
entry of_updates [k] [n] (dest: [k]f64) (is: [n]i64) (xs: [n]f64) : ([k]f64, [n]f64) =
  let f (dest, xs) = f64.sum (map (\x -> x * x) (reduce_by_index (copy dest) (+) 0 is xs))
  in vjp f (dest, xs) 1
