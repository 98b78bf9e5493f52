-- Arrays that share memory, and calls that overwrite them.

def table : [4]i64 = [10, 20, 30, 40]

entry constant : [4]i64 = table

entry same [n] (xs: [n]i64) : [n]i64 = xs

entry split [n] (k: i64) (xs: [n]i64) : (i64, []i64, []i64) = (k, take k xs, drop k xs)

entry exchange [n] [m] (a: *[n]i64) (b: *[m]i64) (i: i64) (x: i64) : (*[m]i64, *[n]i64) =
  (b with [i] = x, a with [0] = 2)

entry replicate (n: i64) (x: i64) : []i64 = replicate n x

-- The context does not survive the least number divided by -1.
entry divide [n] (a: i64) (bs: [n]i64) : [n]i64 = map (a /) bs
