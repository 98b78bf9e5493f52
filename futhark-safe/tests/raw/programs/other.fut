-- The same names as in stats.fut, with other meanings.
type~ track = {number: i64, xs: []f32}

entry mean [n] (xs: [n]f32) : f32 = 1000 + f32.sum xs / f32.i64 n

entry track (number: i64) (xs: []f32) : track = {number = -number, xs}
