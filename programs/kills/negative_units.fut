-- An array of a negative number of units is an error of the call, although it takes no memory, so
-- its length is never used as a size. Error: invalid size (plain programs return it).

-- ==
-- tags { kills }
-- entry: counted
-- input { 3i64 } output { 3i64 }
-- input { 0i64 } output { 0i64 }
entry counted (n: i64) : i64 = length (replicate n ())

-- ==
-- entry: squared
-- input { 2i64 } output { [[1, 1], [1, 1]] }
-- input { -2i64 } error: .*
entry squared (n: i64) : [][]i32 =
  let units = opaque (replicate n ())
  in replicate (length units) (replicate (length units) 1)
