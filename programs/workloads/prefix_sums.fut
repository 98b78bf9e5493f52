-- Computes prefix sums: inclusive and exclusive ones, sums that start again at flags by an
-- operator on pairs, and scans of the results of scans.

-- ==
-- entry: inclusive
-- input { [1, 2, 3, 4] } output { [1, 3, 6, 10] }
-- input { [2147483647, 1] } output { [2147483647, -2147483648] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry inclusive [n] (xs: [n]i32) : [n]i32 = scan (+) 0 xs

-- ==
-- entry: exclusive
-- input { [1, 2, 3, 4] } output { [0, 1, 3, 6] }
-- input { [5] } output { [0] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry exclusive [n] (xs: [n]i32) : [n]i32 = map2 (-) (scan (+) 0 xs) xs

def segmented [n] (flags: [n]bool) (xs: [n]i32) : [n]i32 =
  let add (f, x) (g, y) = (f || g, if g then y else x + y)
  in map (.1) (scan add (false, 0) (zip flags xs))

-- The sum of n numbers after eight rounds: a scan of all and a scan of segments in each.
-- ==
-- entry: rounds
-- input { 0i64 } output { 0.0 }
-- input { 1i64 } output { 0.0 }
-- input { 40i64 } output { 15760.0 }
entry rounds (n: i64) : f64 =
  let flags = map (\i -> i % 37 == 0) (iota n)
  let first = map (\i -> i32.i64 (i * i % 101)) (iota n)
  let last =
    loop xs = first
    for _i < 8i32 do
      map (% 1000) (segmented flags (scan (+) 0 xs))
  in f64.i64 (i64.sum (map i64.i32 last))
