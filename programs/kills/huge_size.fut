-- An array whose size in bytes does not fit in 64 bits is an error of the call, not a small array
-- with writes past its end. Error: size overflow or out of memory.

-- ==
-- tags { kills }
-- entry: fill
-- input { 2i64 7 } output { [7, 7] }
-- input { 2305843009213693952i64 7 } error: .*
-- input { 4611686018427387904i64 7 } error: .*
-- input { 9223372036854775807i64 7 } error: .*
-- input { 1i64 7 } output { [7] }
entry fill (n: i64) (x: i32) : []i32 = replicate n x
