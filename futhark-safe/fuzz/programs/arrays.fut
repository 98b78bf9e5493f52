-- Arrays that share memory, and calls that overwrite them.

def table : [4]i64 = [10, 20, 30, 40]

entry same [n] (xs: [n]i64) : [n]i64 = xs

entry constant : [4]i64 = table

entry split [n] (k: i64) (xs: [n]i64) : ([]i64, []i64) = (take k xs, drop k xs)

entry put [n] (xs: *[n]i64) (i: i64) (x: i64) : *[n]i64 = xs with [i] = x

entry exchange [n] (a: *[n]i64) (b: *[n]i64) : (*[n]i64, *[n]i64) =
  (b with [0] = 1, a with [0] = 2)

entry transpose [n] [m] (xs: [n][m]i64) : [m][n]i64 = transpose xs

entry flatten [n] [m] (xs: [n][m]i64) : []i64 = flatten xs

entry replicate (n: i64) (x: i64) : []i64 = replicate n x

-- The context does not survive the least number divided by -1.
entry divide (a: i64) (b: i64) : i64 = a / b

entry divide_all [n] (as: [n]i64) (bs: [n]i64) : [n]i64 = map2 (/) as bs
