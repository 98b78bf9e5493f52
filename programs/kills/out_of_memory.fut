-- Allocating an array larger than any memory is an error of the call, and the context remains
-- usable. Error: out of memory.

-- ==
-- tags { kills }
-- entry: fill
-- input { 2i64 7i64 } output { [7i64, 7i64] }
-- input { 70368744177664i64 7i64 } error: .*
-- input { 1125899906842624i64 7i64 } error: .*
-- input { 1i64 7i64 } output { [7i64] }
entry fill (n: i64) (x: i64) : []i64 = replicate n x
