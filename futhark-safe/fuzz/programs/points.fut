-- Arrays of records and of sums.

type pt = {x: i64, y: i64}

type colour = #grey | #rgb i64 i64

entry put [n] (ps: *[n]pt) (i: i64) (p: pt) : *[n]pt = ps with [i] = p

entry paint [n] (xs: [n]i64) (c: colour) : [n]colour = map (\x -> if x > 0 then #rgb x 2 else c) xs
