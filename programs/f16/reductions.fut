-- Reductions and scans over f16 return the same values as a sequential fold. (Known not to hold on
-- multicore: the generated code loses the result of a full reduction.)

-- ==
-- entry: sum
-- input { [1f16, 2f16, 4f16] } output { 7f16 }
-- input { empty([0]f16) } output { 0f16 }
entry sum (xs: []f16) : f16 = f16.sum xs

-- ==
-- entry: extremes
-- input { [1f16, -2f16, 4f16] } output { -2f16 4f16 }
-- input { empty([0]f16) } output { f16.inf -f16.inf }
entry extremes (xs: []f16) : (f16, f16) = (f16.minimum xs, f16.maximum xs)

-- ==
-- entry: prefix
-- input { [1f16, 2f16, 4f16] } output { [1f16, 3f16, 7f16] }
-- input { empty([0]f16) } output { empty([0]f16) }
entry prefix (xs: []f16) : []f16 = scan (+) 0 xs
