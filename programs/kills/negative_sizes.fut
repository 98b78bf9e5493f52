-- Two negative dimensions, whose product is positive, or a negative length in a concatenation are
-- errors of the call. Error: invalid size (plain programs read and write other memory).

-- ==
-- tags { kills }
-- entry: make
-- input { 2i64 3i64 } output { [[7, 7, 7], [7, 7, 7]] }
-- input { -5i64 -3i64 } error: .*
-- input { -5000i64 -5000i64 } error: .*
-- input { 0i64 3i64 } output { empty([0][3]i32) }
entry make (n: i64) (m: i64) : [][]i32 = replicate n (replicate m 7)

-- ==
-- entry: used
-- input { 2i64 3i64 } output { 42 }
-- input { -5i64 -3i64 } error: .*
-- input { 2i64 0i64 } output { 0 }
entry used (n: i64) (m: i64) : i32 =
  i32.sum (flatten (reverse (opaque (replicate n (replicate m 7)))))

-- ==
-- entry: joined
-- input { 1i64 2i64 } output { [7, 8, 8] }
-- input { -3i64 5i64 } error: .*
-- input { 5i64 -3i64 } error: .*
-- input { 0i64 1i64 } output { [8] }
entry joined (n: i64) (m: i64) : []i32 = replicate n 7 ++ replicate m 8
