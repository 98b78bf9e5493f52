-- Derivatives of parallel loops are correct in forward and in reverse mode: with one or several
-- arrays, nested, and with values that all iterations share.

-- ==
-- entry: of_pairs
-- input { [1f64, 2f64] [3f64, 5f64] } output { [3f64, 5f64] [1f64, 2f64] }
entry of_pairs [n] (xs: [n]f64) (ys: [n]f64) : ([n]f64, [n]f64) =
  vjp (\(xs, ys) -> f64.sum (map2 (*) xs ys)) (xs, ys) 1

-- ==
-- entry: along_pairs
-- input { [1f64, 2f64] [3f64, 5f64] } output { [5f64, 9f64] }
entry along_pairs [n] (xs: [n]f64) (ys: [n]f64) : [n]f64 =
  jvp (\(xs, ys) -> map2 (*) xs ys) (xs, ys) (map (const 1) xs, map (const 2) ys)

-- ==
-- entry: of_shared
-- input { 3f64 [1f64, 2f64] } output { 18f64 [9f64, 9f64] }
entry of_shared [n] (a: f64) (xs: [n]f64) : (f64, [n]f64) =
  vjp (\(a, xs) -> f64.sum (map (\x -> a * a * x) xs)) (a, xs) 1

-- Every iteration reads the whole array at places that the data choose.
-- ==
-- entry: of_gather
-- input { [1f64, 2f64, 3f64] [2i64, 0i64, 2i64] }
-- output { [2f64, 0f64, 12f64] [3f64, 1f64, 3f64] }
entry of_gather [n] [k] (xs: [n]f64) (is: [k]i64) : ([n]f64, [k]f64) =
  let f xs = map (\i -> xs[i]) is
  in (vjp (\xs -> f64.sum (map (\x -> x * x) (f xs))) xs 1, jvp f xs xs)

-- ==
-- entry: of_products
-- input { [[1f64, 2f64], [3f64, 4f64]] [[5f64, 6f64], [7f64, 8f64]] }
-- output { [[11f64, 15f64], [11f64, 15f64]] [[4f64, 4f64], [6f64, 6f64]] }
entry of_products [n] [m] [k] (a: [n][m]f64) (b: [m][k]f64) : ([n][m]f64, [m][k]f64) =
  let dot xs ys = f64.sum (map2 (*) xs ys)
  let product (a: [n][m]f64) (b: [m][k]f64) = map (\row -> map (dot row) (transpose b)) a
  in vjp (\(a, b) -> f64.sum (flatten (product a b))) (a, b) 1

-- ==
-- entry: of_rows
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { [[11f64, 17f64], [67f64, 81f64]] }
entry of_rows [n] [m] (xss: [n][m]f64) : [n][m]f64 =
  vjp (\xss -> f64.sum (map (\xs -> f64.sum xs * f64.sum (map (\x -> x * x) xs)) xss)) xss 1
