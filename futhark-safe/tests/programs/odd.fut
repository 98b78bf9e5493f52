-- Sizes that are impossible, and a type that occurs only in another one.

entry units (n: i64) : []() = replicate n ()
entry count [n] (_: [n]()) : i64 = n

entry make (n: i64) (m: i64) : [][]i32 = replicate n (replicate m 7)
entry used (n: i64) (m: i64) : i32 = i32.sum (flatten (reverse (opaque (replicate n (replicate m 7)))))
entry joined (n: i64) (m: i64) : []i32 = replicate n 7 ++ replicate m 7
entry rows (n: i64) (m: i64) : [][]i32 = map (\x -> replicate (n - 1) x ++ [x]) (replicate m 7)

type~ inner = {flag: bool, xs: []f32}
type~ outer = {first: inner, n: i32}
entry outer (n: i32) : outer = {first = {flag = true, xs = replicate 2 (f32.i32 n)}, n}
entry total (o: outer) : f32 = f32.sum o.first.xs
