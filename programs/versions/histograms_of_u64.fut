-- A histogram of u64 with the operator u64.min sets whole elements. Kernels of 0.25.27 set halves.

-- ==
-- entry: smallest
-- input { [9u64, 8u64, 7u64, 6u64] } output { [9u64, 8u64, 7u64, 2u64] }
entry smallest (xs: *[4]u64) : [4]u64 = reduce_by_index xs u64.min u64.highest [3i64] [2]
