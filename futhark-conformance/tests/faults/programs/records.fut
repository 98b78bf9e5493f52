-- A record of scalars, a record of arrays, and an array of records. Fields of one record have
-- the same type, so that the C compiler cannot detect that they were swapped.

type point = {x: f32, y: f32}
type columns [n] = {left: [n]i64, right: [n]i64}

entry turned (p: point): point = {x = -p.y, y = p.x}

entry both [n] (left: [n]i64) (right: [n]i64): columns [n] = {left, right}

entry line (n: i64): []point = tabulate n (\i -> {x = f32.i64 i, y = 1})

-- A projected array shares the memory of its record.
entry overwrite (xs: *[]i64): *[]i64 = xs with [0] = 7
