-- A size type whose product wraps to the length of an array is an error of the call, and so is a
-- slice with a negative stride that starts past the end. Also if its length
-- overflows. Error: invalid size or index (plain programs read other memory, or end).

-- ==
-- tags { kills }
-- entry: at
-- input { [1, 2, 3, 4] 2i64 2i64 1i64 0i64 } output { 3 }
-- input { [1, 2, 3, 4] 4611686018427387905i64 4i64 2i64 1i64 } error: a sum or product that overflows
-- input { [1, 2, 3, 4] 1i64 4i64 0i64 3i64 } output { 4 }
entry at [k] (xs: [k]i32) (n: i64) (m: i64) (i: i64) (j: i64) : i32 =
  (unflatten (sized (n * m) xs))[i, j]

-- ==
-- entry: backwards
-- input { [1, 2, 3, 4] 3i64 0i64 } output { [4, 3, 2] }
-- input { [1, 2, 3, 4] 9i64 0i64 } error: .*
-- input { empty([0]i32) 2i64 -1i64 } error: .*
-- input { [1, 2, 3, 4] 0i64 -9223372036854775808i64 } error: out of bounds
-- input { [1, 2, 3, 4] 9223372036854775807i64 -1i64 } error: .*
-- input { [1, 2, 3, 4] 3i64 -1i64 } output { [4, 3, 2, 1] }
entry backwards (xs: []i32) (i: i64) (j: i64) : []i32 = xs[i:j:-1]
