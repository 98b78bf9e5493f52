-- Floats in test blocks can have points, exponents, underscores and the names of infinity and NaN,
-- and results are compared with a tolerance.

-- ==
-- entry: same
-- input { 1.0 } output { 1e0 }
-- input { 1_0.2_5 } output { 10.25 }
-- input { -2.5e-3 } output { -0.0025 }
-- input { 1.0E+2 } output { 100.0 }
-- input { 3f64 } output { 3.0 }
-- input { f64.inf } output { f64.inf }
-- input { -f64.inf } output { -f64.inf }
-- input { f64.nan } output { f64.nan }
entry same (x: f64) : f64 = x

-- A result may differ by 0.002, or by 0.002 times the largest finite number that is expected.
-- ==
-- entry: close
-- input { [1f32, 2f32] } output { [1.0019f32, 1.9985f32] }
-- input { [1000f32, 1f32] } output { [1001.9f32, 2.9f32] }
-- input { [1f32, f32.inf] } output { [1.001f32, f32.inf] }
-- input { [f32.nan, 1f32] } output { [f32.nan, 1.001f32] }
entry close (xs: []f32) : []f32 = xs

-- ==
-- entry: widths
-- input { 1.5f16 2.25f32 3.125f64 } output { 6.875f64 }
-- input { 65504f16 -f32.inf 1.0 } output { -f64.inf }
-- input { f16.inf -f32.inf 1.0 } output { f64.nan }
entry widths (a: f16) (b: f32) (c: f64) : f64 = f64.f16 a + f64.f32 b + c
