-- Entry points that compute little, so that a call costs more than the computation.

-- | One addition.
entry add (a: i32) (b: i32) : i32 = a + b

-- | Takes an array.
entry first (xs: []f32) : f32 = xs[0]

type pt = {x: f32, y: f32}

-- | Takes an array of records.
entry first_point (ps: []pt) : pt = ps[0]
