-- `#[unsafe]` turns off the checks of an expression. The arguments of the test blocks are within
-- bounds; others are not generated.

-- ==
-- entry: at
-- input { [1, 2, 3] 0i64 } output { 1 }
-- input { [4, 5, 6, 7] 3i64 } output { 7 }
entry at (xs: []i32) (i: i64) : i32 = #[unsafe] xs[i]

-- ==
-- entry: gather
-- input { [1, 2, 3] [2i64, 0i64, 2i64] } output { [3, 1, 3] }
-- input { [1, 2, 3, 4] [0i64] } output { [1] }
entry gather (xs: []i32) (is: []i64) : []i32 = map (\i -> #[unsafe] xs[i]) is

-- The other checks remain.
-- ==
-- entry: both
-- input { [1, 2, 3] 1i64 } output { 4 }
-- input { [1, 2, 3] 5i64 } error: out of bounds
entry both (xs: []i32) (i: i64) : i32 = xs[i] + #[unsafe] xs[i]

-- No test block shows arguments, so this is never called.
entry hidden (xs: []i32) (i: i64) : i32 = #[unsafe] xs[i * 1_000_000_000]
