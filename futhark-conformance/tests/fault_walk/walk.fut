-- Entry points and types for every operation of a context.

type point = {x: f32, y: f32}
type columns [n] = {left: [n]i64, right: [n]i64}
type shape = #circle f32 | #corners [3]f32 | #nothing

-- Kernels compute it when a context is created.
def table: []i64 = scan (+) 0 (map (* 3) (iota 50))

entry at (i: i64): i64 = table[i]

entry doubled (xs: []i64): []i64 = map (* 2) xs

entry overwrite (xs: *[]i64): *[]i64 = scatter xs (iota 2) (replicate 2 7)

entry sums (xs: []i64): ([]i64, i64) = (scan (+) 0 xs, i64.sum xs)

entry checked (xs: []i64) (i: i64): i64 = i64.sum (map (\x -> x + xs[i]) xs)

entry turned [n] [m] (xss: [n][m]f32): [m][n]f32 = transpose xss

entry line (n: i64): []point = tabulate n (\i -> {x = f32.i64 i, y = 1})

entry both [n] (left: [n]i64) (right: [n]i64): columns [n] = {left, right}

entry dot [n] (c: columns [n]): i64 = i64.sum (map2 (*) c.left c.right)

entry consumed [n] (c: *columns [n]): *[n]i64 = map2 (+) c.left c.right

entry size (s: shape): f32 =
  match s
  case #circle r -> r
  case #corners rs -> f32.sum rs
  case #nothing -> 0

-- Each row needs scratch memory.
entry rows [m] (ns: [m]i64) (ks: [m]i64): [m]i64 =
  let row n k =
    let a = replicate n 1i64
    let a = loop a for i < k do a with [i % n] = a[(i * 7) % n] + 1
    in a[k % n]
  in map2 (\n k -> #[sequential] row n k) ns ks

-- Used by host backends only: the memory of the arrays does not stay on the heap.
entry large (n: i64): i64 = i64.sum (reverse (opaque (iota n)))
