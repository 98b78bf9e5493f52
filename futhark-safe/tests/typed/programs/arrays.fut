-- Arrays of every element type and of several ranks, and what may share their memory.

entry flatten_i8 [n] [m] (xs: [n][m]i8) : []i8 = flatten xs
entry flatten_i16 [n] [m] (xs: [n][m]i16) : []i16 = flatten xs
entry flatten_i64 [n] [m] (xs: [n][m]i64) : []i64 = flatten xs
entry flatten_u8 [n] [m] (xs: [n][m]u8) : []u8 = flatten xs
entry flatten_u16 [n] [m] (xs: [n][m]u16) : []u16 = flatten xs
entry flatten_u32 [n] [m] (xs: [n][m]u32) : []u32 = flatten xs
entry flatten_u64 [n] [m] (xs: [n][m]u64) : []u64 = flatten xs
entry flatten_f16 [n] [m] (xs: [n][m]f16) : []f16 = flatten xs
entry flatten_f32 [n] [m] (xs: [n][m]f32) : []f32 = flatten xs
entry flatten_f64 [n] [m] (xs: [n][m]f64) : []f64 = flatten xs

entry reverse_i32 [n] (xs: [n]i32) : [n]i32 = reverse xs
entry transpose_i32 [n] [m] (xs: [n][m]i32) : [m][n]i32 = transpose xs
entry transpose_f32 [n] [m] (xs: [n][m]f32) : [m][n]f32 = transpose xs
entry reverse_bool [n] (xs: [n]bool) : [n]bool = reverse xs
entry transpose_bool [n] [m] (xs: [n][m]bool) : [m][n]bool = transpose xs

-- All dimensions turned round.
entry turn [a] [b] [c] (xs: [a][b][c]f32) : [c][b][a]f32 =
  map transpose (transpose (map transpose xs))

-- An empty array whose second dimension may be below zero.
entry rows_of (n: i64) (m: i64) : [n][m]i32 = replicate n (replicate m 1)

-- Results that share the argument's memory.
entry alias [n] (xs: [n]i32) : [n]i32 = xs

entry head [n] (k: i64) (xs: [n]i32) : []i32 = take k xs

def table : [4]i32 = [10, 20, 30, 40]

entry constant : [4]i32 = table

type~ pair = { left: []i32, right: []i32 }

entry pair (left: []i32) (right: []i32) : pair = { left, right }

entry left (p: pair) : []i32 = p.left

-- These overwrite what they are given.
entry set_first [n] (xs: *[n]i32) (v: i32) : *[n]i32 = xs with [0] = v

entry poke (p: *pair) (v: i32) : *[]i32 = p.left with [0] = v

entry sum [n] (xs: [n]i32) : i32 = i32.sum xs

-- The runtime does not survive the least number divided by -1.
entry divide (a: i64) (b: i64) : i64 = a / b
