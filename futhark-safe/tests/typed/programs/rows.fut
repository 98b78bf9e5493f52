-- Two versions of the code: parallel in the rows only, or also within a row.

-- ==
-- entry: row_sums
-- compiled random input { [16][64]f32 }
-- compiled random input { [256][4]f32 }
entry row_sums [n] [m] (xss: [n][m]f32) : [n]f32 = map f32.sum xss
