-- Counts values by bins: keys outside of the bins are ignored, weights are added in 64 bits, and
-- the histogram of one round decides the keys of the next.

-- ==
-- entry: counts
-- input { 3i64 [0i64, 2i64, 2i64, 1i64, 2i64] } output { [1i64, 1i64, 3i64] }
-- input { 2i64 [-1i64, 0i64, 2i64, 9223372036854775807i64, 1i64] } output { [1i64, 1i64] }
-- input { 2i64 empty([0]i64) } output { [0i64, 0i64] }
-- input { 0i64 [0i64, 1i64] } output { empty([0]i64) }
entry counts [n] (bins: i64) (keys: [n]i64) : [bins]i64 =
  hist (+) 0 bins keys (replicate n 1)

-- ==
-- entry: weights
-- input { 2i64 [0i64, 1i64, 0i64] [1.5, 2.0, 0.25] } output { [1.75, 2.0] }
-- input { 1i64 [0i64] [1.0, 2.0] } error: .*
entry weights [n] (bins: i64) (keys: [n]i64) (xs: [n]f64) : [bins]f64 =
  hist (+) 0 bins keys xs

-- ==
-- entry: largest
-- input { 3i64 [2i64, 0i64, 2i64] [5, -7, 6] } output { [-7, -2147483648, 6] }
entry largest [n] (bins: i64) (keys: [n]i64) (xs: [n]i32) : [bins]i32 =
  hist i32.max i32.lowest bins keys xs

-- Counts n numbers in 256 bins, four times; each number is changed by the count of its bin.
-- ==
-- entry: rounds
-- input { 0i64 } output { 0.0 }
-- input { 1i64 } output { 3332033868.0 }
-- input { 100i64 } output { 210656965382.0 }
entry rounds (n: i64) : f64 =
  let key (x: u32) = i64.u32 (x >> 24)
  let first = map (\i -> u32.i64 i * 2654435761) (iota n)
  let last =
    loop xs = first
    for _i < 4i32 do
      let bins = hist (+) 0 256 (map key xs) (replicate n 1u32)
      in map (\x -> x * 1664525 + bins[key x]) xs
  in f64.u64 (u64.sum (map u64.u32 last))
