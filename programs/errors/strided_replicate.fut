-- A slice of a replicated value has only this value as its elements, whatever its stride is. For a stride other than
-- one, the tested compilers read outside of the array. The tag excludes the program from `futhark test`, which would
-- report arbitrary values.

-- ==
-- tags { kills }
-- entry: strided
-- input { 9i64 7i64 0i64 9i64 2i64 } output { [7i64, 7i64, 7i64, 7i64, 7i64] }
-- input { 4i64 7i64 3i64 -1i64 -1i64 } output { [7i64, 7i64, 7i64, 7i64] }
-- input { 4i64 7i64 1i64 9i64 2i64 } error: out of bounds
entry strided (n: i64) (x: i64) (first: i64) (end: i64) (stride: i64) : []i64 =
  (replicate n x)[first:end:stride]
