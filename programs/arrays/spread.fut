-- A spread writes values to the places that their indices name, and a default to all others. An
-- index out of bounds is ignored.

-- ==
-- tags { unordered_numbers unordered_lowest unordered_pairs unordered_read_again }
-- entry: numbers
-- input { 4i64 7i32 [2i64, 0i64, 9i64, -1i64] [1i32, 2i32, 3i32, 4i32] }
-- output { [2i32, 7i32, 1i32, 7i32] }
-- input { 0i64 7i32 [0i64] [1i32] } output { empty([0]i32) }
-- input { 2i64 7i32 empty([0]i64) empty([0]i32) } output { [7i32, 7i32] }
entry numbers [n] (k: i64) (x: i32) (is: [n]i64) (vs: [n]i32) : [k]i32 = spread k x is vs

-- ==
-- entry: lowest
-- input { 3i64 [1i64] [0i64] } output { [-9223372036854775808i64, 0i64, -9223372036854775808i64] }
entry lowest [n] (k: i64) (is: [n]i64) (vs: [n]i64) : [k]i64 = spread k i64.lowest is vs

-- ==
-- entry: pairs
-- input { 3i64 [2i64, 0i64] [1.5f32, -1.5f32] [true, false] }
-- output { [-1.5f32, 0f32, 1.5f32] [false, true, true] }
entry pairs [n] (k: i64) (is: [n]i64) (xs: [n]f32) (flags: [n]bool) : ([k]f32, [k]bool) =
  unzip (spread k (0, true) is (zip xs flags))

-- ==
-- entry: of_each
-- input { 3i64 [[0i64, 2i64], [1i64, 9i64]] } output { [[1i64, 0i64, 1i64], [0i64, 1i64, 0i64]] }
entry of_each [n] [m] (k: i64) (iss: [n][m]i64) : [n][k]i64 =
  map (\is -> spread k 0 is (map (const 1) is)) iss

-- ==
-- entry: read_again
-- input { 3i64 [2i64, 0i64] [5i64, 6i64] } output { 11i64 [6i64, 6i64, 11i64] }
entry read_again [n] (k: i64) (is: [n]i64) (vs: [n]i64) : (i64, [k]i64) =
  let xs = spread k 0 is vs
  in (i64.sum xs, scan (+) 0 xs)
