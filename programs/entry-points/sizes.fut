-- Sizes that an entry point accepts, infers, computes and returns equal the sizes of the
-- corresponding arrays.

-- ==
-- entry: blocks
-- input { 2i64 [1, 2, 3, 4, 5, 6] } output { [[1, 2], [3, 4], [5, 6]] }
-- input { 4i64 [1, 2, 3, 4, 5, 6] } error: .
-- input { 3i64 empty([0]i32) } output { empty([0][3]i32) }
entry blocks [n] (k: i64) (xs: [n]i32) : [][k]i32 =
  let m = assert (k > 0 && n % k == 0) (n / k)
  in unflatten (xs :> [m * k]i32)

-- ==
-- entry: positive
-- input { [3, -1, 0, 5] } output { [3, 5] [0i64, 3i64] }
-- input { [-1] } output { empty([0]i32) empty([0]i64) }
entry positive [n] (xs: [n]i32) : ([]i32, []i64) =
  unzip (filter (\(x, _) -> x > 0) (zip xs (iota n)))

-- ==
-- entry: repeated
-- input { 2i64 3i64 7 } output { [[7, 7, 7], [7, 7, 7]] }
-- input { 0i64 3i64 7 } output { empty([0][3]i32) }
entry repeated (n: i64) (m: i64) (x: i32) : [n][m]i32 = replicate n (replicate m x)
