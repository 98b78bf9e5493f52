-- Consumption by the dynamic interface.

entry put [n] (xs: *[n]i64) (i: i64) (x: i64) : *[n]i64 = xs with [i] = x

entry total [n] (xs: [n]i64) : i64 = i64.sum xs
