-- What the benchmarks call: as little as possible, so that the way in and out shows.

-- | A call that computes nothing worth mentioning.
entry add (a: i32) (b: i32) : i32 = a + b

-- | About two nanoseconds per round, without parallelism.
entry spin (rounds: i32) (seed: u32) : u32 =
  loop x = seed for _i < rounds do (x ^ (x >> 7)) * 1664525 + 1013904223

-- | Gives the program arrays that can be sent and read.
entry first (xs: []f32) : f32 = xs[0]
