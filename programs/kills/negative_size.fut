-- Allocating an array of negative size is an error of the call; the process continues, and the
-- next call returns the correct result. Error: invalid size (plain programs exit).

-- ==
-- tags { kills }
-- entry: fill
-- input { 3i64 7 } output { [7, 7, 7] }
-- input { -5i64 7 } error: .*
-- input { 0i64 7 } output { empty([0]i32) }
-- input { -9223372036854775808i64 7 } error: .*
-- input { 2i64 7 } output { [7, 7] }
entry fill (n: i64) (x: i32) : []i32 = replicate n x
