-- Observed arguments keep their contents; consumed ones may be overwritten.

-- ==
-- entry: observe
-- input { [1i64, 2i64, 3i64] } output { [7i64, 2i64, 3i64] }
entry observe (xs: []i64): []i64 = copy xs with [0] = 7

-- ==
-- entry: overwrite
-- input { [1i64, 2i64, 3i64] } output { [7i64, 2i64, 3i64] }
entry overwrite (xs: *[]i64): *[]i64 = xs with [0] = 7

-- The result shares the argument's memory.
-- ==
-- entry: identity
-- input { [1i64, 2i64, 3i64] } output { [1i64, 2i64, 3i64] }
entry identity (xs: []i64): []i64 = xs
