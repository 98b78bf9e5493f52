-- A negative size that the compiler knows is an error of the call. Error: invalid size (plain programs write to memory
-- that was never allocated).

def rest [n] (xs: [n]i64) : []i64 = filter (> 0) (replicate (n - 4) 1)

-- ==
-- tags { kills }
-- entry: rest_of_three
-- input { 1i64 } error: .*
entry rest_of_three (x: i64) : []i64 = rest [x, 2, 3]

-- ==
-- entry: rest_of_five
-- input { 1i64 } output { [1i64] }
entry rest_of_five (x: i64) : []i64 = rest [x, 2, 3, 4, 5]

-- ==
-- entry: kept
-- input { 1i64 } error: .*
entry kept (x: i64) : i64 = length (filter (> x) (opaque (replicate (-2) 3)))

-- ==
-- entry: copied
-- input { 1i64 } error: .*
entry copied (x: i64) : []i64 = map (+ x) (opaque (replicate (-2) x))

-- ==
-- entry: rows
-- input { 2i64 } error: .*
entry rows (n: i64) : [][]i64 = map (map (+ n)) (opaque (replicate n (replicate (-2) n)))

-- ==
-- entry: turned
-- input { 2i64 } error: .*
entry turned (n: i64) : [][]i64 = copy (transpose (opaque (replicate n (replicate (-2) n))))

-- ==
-- entry: joined
-- input { [1i64] } error: .*
entry joined (xs: []i64) : []i64 = replicate (-1) 7 ++ xs ++ xs

-- ==
-- entry: looped
-- input { 1i64 } output { 1i64 }
entry looped (x: i64) : i64 = loop y = x for _i < -2 do y + 1
