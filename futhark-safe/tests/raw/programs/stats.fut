-- Called from Rust and, in the same context, as plain C.
type~ track = {number: i64, xs: []f32}

entry mean [n] (xs: [n]f32) : f32 = f32.sum xs / f32.i64 n

entry normalise [n] (xs: *[n]f32) : *[n]f32 =
  let total = f32.sum xs
  in map (/ total) xs

entry gather [n] [m] (xs: [n]f32) (is: [m]i64) : [m]f32 = map (\i -> xs[i]) is

entry track (number: i64) (xs: []f32) : track = {number, xs}

-- Newer compilers take a `length` in the definition of `length` for a recursive call.
def size [n] (_: [n]f32) : i64 = n

entry length (track: track) : i64 = size track.xs

entry fill (n: i64) : []u8 = replicate n 7

-- The least number by -1 ends the process of a plain C program.
entry divide [n] (xs: [n]i64) (by: i64) : [n]i64 = map (/ by) xs
