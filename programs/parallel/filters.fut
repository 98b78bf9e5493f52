-- Functions whose results have an unknown size are correct: filters and partitions of numbers,
-- tuples and rows, one after the other, and with results that nobody uses.

-- ==
-- entry: large
-- input { 20000i64 } output { 6667i64 66663333i64 13333i64 133326667i64 }
-- input { 0i64 } output { 0i64 0i64 0i64 0i64 }
entry large (n: i64) : (i64, i64, i64, i64) =
  let (xs, ys) = partition (\x -> x % 3 == 0) (iota n)
  in (length xs, i64.sum xs, length ys, i64.sum ys)

-- ==
-- entry: pairs
-- input { [1i32, -2i32, 3i32] [1.5f64, 2.5f64, 3.5f64] } output { [1i32, 3i32] [1.5f64, 3.5f64] }
-- input { [-1i32] [1f64] } output { empty([0]i32) empty([0]f64) }
entry pairs [n] (xs: [n]i32) (ys: [n]f64) : ([]i32, []f64) =
  unzip (filter (\(x, _) -> x > 0) (zip xs ys))

-- ==
-- entry: rows
-- input { [[1i32, 2i32], [-3i32, 0i32], [0i32, 5i32]] } output { [[1i32, 2i32], [0i32, 5i32]] }
entry rows [n] [m] (xss: [n][m]i32) : [][m]i32 = filter (\xs -> i32.sum xs > 0) xss

-- ==
-- entry: twice
-- input { 30i64 } output { [0i64, 6i64, 12i64, 18i64, 24i64] }
entry twice (n: i64) : []i64 = filter (\x -> x % 3 == 0) (filter (\x -> x % 2 == 0) (iota n))

-- ==
-- entry: in_three
-- input { [5i16, -1i16, 0i16, 7i16] } output { [5i16, 7i16] [-1i16] [0i16] }
entry in_three [n] (xs: [n]i16) : ([]i16, []i16, []i16) = partition2 (> 0) (< 0) xs

-- ==
-- entry: counted
-- input { [5i64, -1i64, 0i64, 7i64] } output { 2i64 true false }
entry counted [n] (xs: [n]i64) : (i64, bool, bool) =
  (length (filter (> 0) xs), any (< 0) xs, all (> 0) xs)
