-- The derivative of a scatter into a matrix is correct in reverse mode.

def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x) xs)

-- ==
-- tags { unordered_of_matrix }
-- entry: of_matrix
-- input { [1i64, 0i64] [0i64, 1i64] [5f64, 6f64] } output { [10f64, 12f64] }
entry of_matrix [n] (is: [n]i64) (js: [n]i64) (xs: [n]f64) : [n]f64 =
  vjp (\xs -> squares (flatten (scatter_2d (replicate 2 (replicate 2 1)) (zip is js) xs))) xs 1
