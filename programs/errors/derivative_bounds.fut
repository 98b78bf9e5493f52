-- An index out of bounds is an error in a derivative, also if the value that it selects is not needed.

-- ==
-- entry: at
-- input { [1f64, 2f64] 1i64 } output { [0f64, 1f64] }
-- input { [1f64, 2f64] 1099511627776i64 } error: Index
entry at [n] (xs: [n]f64) (i: i64) : [n]f64 = vjp (\xs -> xs[i]) xs 1
