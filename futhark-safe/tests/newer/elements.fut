-- Arrays of opaque values with `new` and `set`, which compilers provide since 0.25.36.

type pt = {n: i32, x: f32}
type row [k] = {id: i64, xs: [k]f32}
type block [h] [w] = {bytes: [h][w]u8}
type shape = #box [2]f32 | #dot i32

def table : [3]pt = map (\i -> {n = i32.i64 i, x = 1}) (iota 3)

entry points (n: i64) : [n]pt = tabulate n (\i -> {n = i32.i64 i, x = 0.5})
entry grid (h: i64) (w: i64) : [h][w]pt =
  tabulate_2d h w (\i j -> {n = i32.i64 i, x = f32.i64 j})
entry rows (n: i64) (k: i64) : [n](row [k]) =
  tabulate n (\i -> {id = i, xs = replicate k (f32.i64 i)})
entry blocks (n: i64) : [n](block [1] [2]) = replicate n {bytes = [[1, 2]]}
entry shapes (n: i64) : [n]shape =
  tabulate n (\i -> if i % 2 == 0 then #dot (i32.i64 i) else #box [f32.i64 i, 1])

-- A constant of the program, and an array under a second name.
entry constant : []pt = table
entry identity (ps: []pt) : []pt = ps

-- A value for every type, so that each can be an argument.
entry sum_points (ps: []pt) : f32 = f32.sum (map (\p -> p.x * f32.i32 p.n) ps)
entry sum_rows [n] [k] (rs: [n](row [k])) : f32 =
  f32.sum (map (\r -> f32.i64 r.id * f32.sum r.xs) rs)
entry sum_shapes (ss: []shape) : f32 =
  f32.sum (map (\s -> match s case #dot i -> f32.i32 i case #box xs -> f32.sum xs) ss)
