-- A function that updates an array in a loop may be called from a map, with arrays of different sizes.

def work (n: i64) (x: i64) : i64 =
  let xs = replicate n x
  let ys = loop xs for i < 7 do xs with [(i * 7) % n] = xs[i] + i
  in ys[n - 1]

-- ==
-- entry: updated
-- input { 3i64 1i64 } output { [1i64, 8i64, 3i64] }
entry updated (n: i64) (k: i64) : []i64 = map (\i -> work (if i == k then 9 else 8) i) (iota n)
