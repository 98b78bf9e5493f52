-- A reversed replicate has the value in each place.

-- ==
-- entry: kept
-- input { [1, 2, 3] 7 } output { [7, 7, 7] }
entry kept [n] (_: [n]i32) (x: i32) : []i32 = filter (\_ -> x != 2) (reverse (replicate n x))
