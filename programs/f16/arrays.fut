-- Arrays of f16, alone and in records, can be mapped, zipped, projected and indexed; each element
-- takes two bytes.

type sample = {at: f16, value: f32}

entry make [n] (at: [n]f16) (value: [n]f32) : [n]sample =
  map2 (\at value -> {at, value}) at value

entry times [n] (ss: [n]sample) : [n]f16 = map (.at) ss

-- ==
-- entry: double
-- input { [1f16, -2.5f16, 40000f16, f16.nan] } output { [2f16, -5f16, f16.inf, f16.nan] }
-- input { empty([0]f16) } output { empty([0]f16) }
entry double [n] (xs: [n]f16) : [n]f16 = map (* 2) xs

-- ==
-- entry: axpy
-- input { 2f16 [1f16, 2f16] [10f16, 20f16] } output { [12f16, 24f16] }
-- input { 2f16 empty([0]f16) empty([0]f16) } output { empty([0]f16) }
-- input { 2f16 [1f16] [1f16, 2f16] } error: .*
entry axpy [n] (a: f16) (xs: [n]f16) (ys: [n]f16) : [n]f16 =
  map2 (\x y -> a * x + y) xs ys

-- ==
-- entry: round_trip
-- input { [1f16, f16.inf] [1f32, 2f32] } output { [1f16, f16.inf] }
-- input { empty([0]f16) empty([0]f32) } output { empty([0]f16) }
entry round_trip [n] (at: [n]f16) (value: [n]f32) : [n]f16 = times (make at value)

-- ==
-- entry: number_bits
-- input { [0u16, 1u16, 15360u16, 31744u16, 32768u16, 64512u16, 31745u16, 65535u16] }
-- output { [0u16, 1u16, 15360u16, 31744u16, 32768u16, 64512u16, 32256u16, 32256u16] }
-- input { empty([0]u16) } output { empty([0]u16) }
entry number_bits [n] (xs: [n]u16) : [n]u16 =
  map (\x -> let y = f16.from_bits x in if f16.isnan y then 32256 else f16.to_bits y) xs

-- ==
-- entry: pick
-- input { [[1f16, 2f16], [3f16, 4f16]] 1i64 0i64 } output { 3f16 }
-- input { [[1f16, 2f16], [3f16, 4f16]] 0i64 2i64 } error: out of bounds
entry pick (xss: [][]f16) (i: i64) (j: i64) : f16 = xss[i, j]
