-- What must not end the process: each failure at top level, and inside a parallel map.

entry replicate_top (n: i64) : i64 = i64.sum (map i64.i32 (replicate n 1i32))

entry array_top (n: i64) : []i32 = replicate n 1

entry divide_top (a: i64) (b: i64) : i64 = a / b

entry modulo_top (a: i64) (b: i64) : i64 = a % b

-- One row of work: an array of n elements, changed k times.
def work (n: i64) (k: i64) : i32 =
  let a = replicate n 1i32
  let a = loop a = a for i < k do a with [i %% (i64.max 1 n)] = a[(i * 7) %% (i64.max 1 n)] + 1
  in a[k %% (i64.max 1 n)]

entry replicate_map [m] (ns: [m]i64) (ks: [m]i64) : [m]i32 =
  map2 (\n k -> #[sequential] work n k) ns ks

def divide (a: i64) (b: i64) (k: i64) : i64 =
  let warm = loop s = a for i < k do (s * 3 + i) ^ (s >> 7)
  in (a / b) + (warm & 1)

entry divide_map [m] (as: [m]i64) (bs: [m]i64) (ks: [m]i64) : [m]i64 =
  map3 divide as bs ks

entry bounds_map [m] (xs: [m]i64) (is: [m]i64) : [m]i64 =
  map (\i -> let x = xs[i] in loop s = x for j < 2000 do (s * 3 + j) ^ (s >> 7)) is

entry good_map [m] (xs: [m]i64) : [m]i64 =
  map (\x -> loop s = 0 for j < 2000 do s + x * j) xs

entry gather [n] (xs: [n]i64) (is: []i64) : []i64 = map (\i -> xs[i]) is

entry total [n] (xs: [n]i64) : i64 = i64.sum xs

entry gather_total [n] (xs: [n]i64) (is: []i64) : i64 = i64.sum (map (\i -> xs[i]) is)

-- Sizes that must agree, in an array and in a record.
type~ row [n] = {at: i64, items: [n]i64}

entry row [n] (at: i64) (items: *[n]i64) : row [n] = {at, items}

