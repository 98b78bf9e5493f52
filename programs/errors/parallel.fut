-- An error in a parallel loop is returned to the caller with a message, and later calls on the same
-- context return correct results.

-- ==
-- entry: gather
-- input { [10, 20, 30] [2i64, 0i64] } output { [30, 10] }
-- input { [10, 20, 30] [2i64, 3i64] } error: out of bounds
-- input { [10, 20, 30] [-1i64, 0i64] } error: out of bounds
-- input { empty([0]i32) [0i64] } error: out of bounds
-- input { empty([0]i32) empty([0]i64) } output { empty([0]i32) }
-- input { [10, 20, 30] [1i64, 1i64] } output { [20, 20] }
entry gather [n] (xs: []i32) (is: [n]i64) : [n]i32 = map (\i -> xs[i]) is

-- ==
-- entry: divide
-- input { [7, -7] [2, 2] } output { [3, -4] }
-- input { [7, -7] [2, 0] } error: division by zero
-- input { empty([0]i32) empty([0]i32) } output { empty([0]i32) }
entry divide [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = map2 (/) xs ys

-- ==
-- entry: check
-- input { [1, 2] } output { [2, 4] }
-- input { [1, 0] } error: Assertion is false
-- input { empty([0]i32) } output { empty([0]i32) }
entry check [n] (xs: [n]i32) : [n]i32 = map (\x -> assert (x > 0) (x * 2)) xs
