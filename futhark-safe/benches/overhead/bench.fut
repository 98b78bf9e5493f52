-- Entry points that compute little, so that the overhead of calls dominates.

-- | One addition.
entry add (a: i32) (b: i32) : i32 = a + b

-- | About two nanoseconds per round, sequential.
entry spin (rounds: i32) (seed: u32) : u32 =
  loop x = seed for _i < rounds do (x ^ (x >> 7)) * 1664525 + 1013904223

-- | Gives the program an array type.
entry first (xs: []f32) : f32 = xs[0]
