-- An error inside a parallel reduction reaches the caller, and later reductions on the same
-- context return correct results. (Plain programs for GPU backends do not reset the block counter
-- of the failed kernel, and their later sums are wrong without an error.)

-- There are enough iterations for several workers; one iteration fails.
-- ==
-- entry: one_of_many
-- input { [1i64, 2i64, 3i64] 20000i64 0i64 } error: out of bounds
-- input { [1i64, 2i64, 3i64] 20000i64 13000i64 } error: out of bounds
-- input { [1i64, 2i64, 3i64] 20000i64 19999i64 } error: out of bounds
-- input { [1i64, 2i64, 3i64] 20001i64 20001i64 } output { 40002i64 }
-- input { empty([0]i64) 0i64 0i64 } output { 0i64 }
entry one_of_many [m] (xs: [m]i64) (n: i64) (bad: i64) : i64 =
  i64.sum (map (\i -> xs[if i == bad then m else i % m]) (iota n))

-- Fails inside the operator of a reduction, and inside an inner loop.
-- ==
-- entry: nested
-- input { [[1, 2], [3, 4]] [1i64, 1i64] } output { 10 }
-- input { [[1, 2], [3, 4]] [1i64, 2i64] } error: out of bounds
-- input { empty([0][2]i32) empty([0]i64) } output { 0 }
entry nested [n] [m] (xss: [n][m]i32) (ends: [n]i64) : i32 =
  let row xs end = loop s = 0 for j < end + 1 do s + xs[j]
  in i32.sum (map2 row xss ends)
