-- f16 values can be summed in a wider type, compared with other floats, and stored in arrays of
-- records as fields of two bytes.

type sample = {weight: f16, value: f32}

-- ==
-- entry: mean
-- input { [1f16, 2f16, 6f16] } output { 3f32 }
-- input { [0.5f16] } output { 0.5f32 }
entry mean [n] (xs: [n]f16) : f32 = f32.sum (map f32.f16 xs) / f32.i64 n

entry sample [n] (weights: [n]f16) (values: [n]f32) : [n]sample =
  map2 (\weight value -> {weight, value}) weights values

-- ==
-- entry: weighted
-- script input { sample [1f16, 3f16] [10f32, 2f32] } output { 16f32 }
-- script input { sample empty([0]f16) empty([0]f32) } output { 0f32 }
entry weighted (xs: []sample) : f32 = f32.sum (map (\s -> f32.f16 s.weight * s.value) xs)

-- ==
-- entry: order
-- input { 1f16 2f16 } output { true false 1f16 2f16 }
-- input { -0.5f16 f16.inf } output { true false -0.5f16 f16.inf }
-- input { f16.nan 1f16 } output { false false 1f16 1f16 }
entry order (a: f16) (b: f16) : (bool, bool, f16, f16) = (a < b, a > b, f16.min a b, f16.max a b)
