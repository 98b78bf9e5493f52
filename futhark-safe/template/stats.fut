-- | Statistics of arrays.

-- | The arithmetic mean.
entry mean [n] (xs: [n]f32) : f32 = f32.sum xs / f32.i64 n

-- | Scales the values so that their sum is one.
entry normalise [n] (xs: *[n]f32) : *[n]f32 =
  let total = f32.sum xs
  in map (/ total) xs
