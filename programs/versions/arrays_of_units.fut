-- Arrays of a sum with one variant and no payload have a size, but no contents.

type only = #only

entry many (n: i64) : [n]only = replicate n #only

entry turn [n] (xs: [n]only) : [n]only = reverse xs

-- ==
-- entry: count
-- input { 0i64 } output { 0i64 }
-- input { 5i64 } output { 5i64 }
entry count (n: i64) : i64 = length (turn (many n))
