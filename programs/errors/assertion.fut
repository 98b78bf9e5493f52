-- A failed assertion is a program error that shows the asserted expression, even if it fails
-- inside a function that is not inlined.

-- ==
-- entry: positive
-- input { 3 } output { 6 }
-- input { 0 } error: Assertion is false
-- input { -2147483648 } error: Assertion is false
entry positive (x: i32) : i32 = assert (x > 0) (x * 2)

#[noinline]
def checked_sum (xs: []f64) : f64 =
  let s = f64.sum xs
  in assert (!(f64.isnan s)) s

-- ==
-- entry: not_nan
-- input { [1f64, 2f64] } output { 3f64 }
-- input { empty([0]f64) } output { 0f64 }
-- input { [1f64, f64.nan] } error: Assertion is false
-- input { [f64.inf, -f64.inf] } error: Assertion is false
entry not_nan (xs: []f64) : f64 = checked_sum xs

-- ==
-- entry: ordered
-- input { [1, 2, 2, 3] } output { [0, 1, 1, 2] }
-- input { [1, 3, 2] } error: Assertion is false
-- input { empty([0]i32) } output { empty([0]i32) }
entry ordered [n] (xs: [n]i32) : [n]i32 =
  let up = and (map (\i -> i == 0 || xs[i - 1] <= xs[i]) (iota n))
  in assert up (map (\x -> x - 1) xs)
