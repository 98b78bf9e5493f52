-- Float functions that have another name or another behaviour in C are correct: rounding to even,
-- remainders, minima of NaN and a number, and powers.

-- ==
-- entry: rounding
-- input { 2.5f64 } output { 2.0 2.0 3.0 2.0 }
-- input { -2.5f64 } output { -2.0 -3.0 -2.0 -2.0 }
-- input { 3.5f64 } output { 4.0 3.0 4.0 3.0 }
entry rounding (x: f64) : (f64, f64, f64, f64) = (f64.round x, f64.floor x, f64.ceil x, f64.trunc x)

-- ==
-- entry: extremes
-- input { 1f32 2f32 } output { 1f32 2f32 }
-- input { -f32.inf 0f32 } output { -f32.inf 0f32 }
-- input { f32.nan 2f32 } output { 2f32 2f32 }
entry extremes (a: f32) (b: f32) : (f32, f32) = (f32.min a b, f32.max a b)

-- ==
-- entry: powers
-- input { 2f64 10f64 } output { 1024f64 1.4142135f64 }
-- input { 0f64 0f64 } output { 1f64 0f64 }
-- input { -1f64 0.5f64 } output { f64.nan f64.nan }
entry powers (x: f64) (y: f64) : (f64, f64) = (x ** y, f64.sqrt x)

-- ==
-- entry: remainders
-- input { 7.5f64 2f64 } output { 1.5 }
-- input { -7.5f64 2f64 } output { -1.5 }
-- input { 1f64 0f64 } output { f64.nan }
entry remainders (x: f64) (y: f64) : f64 = x % y

-- ==
-- entry: angles
-- input { 1f32 0f32 } output { 1.5707964f32 0f32 }
-- input { 0f32 -1f32 } output { 3.1415927f32 0f32 }
entry angles (y: f32) (x: f32) : (f32, f32) = (f32.atan2 y x, f32.sin 0)
