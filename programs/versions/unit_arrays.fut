-- An array of a sum with one variant and no payload may be an argument.

type single = #only

entry units (n: i64) : []single = replicate n #only

-- ==
-- entry: counted
-- input { 3i64 } output { 3i64 }
entry counted (n: i64) : i64 = length (units n)

entry count [n] (_: [n]single) : i64 = n
