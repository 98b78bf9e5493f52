-- Half floats, compared in kernels.

-- ==
-- entry: clamp
-- input { [1f16, 2.5f16, 4f16, 0.5f16] 2f16 3f16 } output { [2f16, 2.5f16, 3f16, 2f16] }
entry clamp (xs: []f16) (low: f16) (high: f16) : []f16 =
  map (\x -> if x < low then low else if x <= high then x else high) xs
