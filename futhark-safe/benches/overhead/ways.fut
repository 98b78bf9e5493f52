-- Called through futhark-safe, the compiler's server and futhark-ffi for Python.

module nbody = import "../../../programs/workloads/nbody"

-- | One addition.
entry add (a: i32) (b: i32) : i32 = a + b

-- | A scalar of an array.
entry first (xs: []f32) : f32 = xs[0]

-- | An array in and out.
entry double [n] (xs: [n]f32) : [n]f32 = map (* 2) xs

-- | The argument, whose memory the result shares.
entry same (xs: []f32) : []f32 = xs

-- | Changes an element in place.
entry put (xs: *[]f32) (x: f32) : *[]f32 = xs with [0] = x

-- | Moves n bodies by a number of steps; whether energy and momentum are conserved.
entry bodies (n: i64) (steps: i32) : bool = (nbody.conserves n 0.0001 steps).0
