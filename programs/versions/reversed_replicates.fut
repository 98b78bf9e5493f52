-- A reversed replicate has the value in each place. Code of 0.25.27 reads in front of it.

-- ==
-- entry: kept
-- input { 7 } output { [7, 7, 7, 7] }
entry kept (x: i32) : []i32 = filter (\_ -> x != 2) (reverse (replicate 4 x))
