-- Segmented scans and reductions are correct for irregular segments, by flags and by counts.

def segmented [n] 't (op: t -> t -> t) (zero: t) (flags: [n]bool) (xs: [n]t) : [n]t =
  let step (f, x) (g, y) = (f || g, if g then y else op x y)
  in map (.1) (scan step (false, zero) (zip flags xs))

-- ==
-- entry: running
-- input { [true, false, false, true, false] [1, 2, 3, 4, 5] } output { [1, 3, 6, 4, 9] }
-- input { [false, false] [1, 2] } output { [1, 3] }
-- input { empty([0]bool) empty([0]i32) } output { empty([0]i32) }
entry running [n] (flags: [n]bool) (xs: [n]i32) : [n]i32 = segmented (+) 0 flags xs

-- Concatenates rows of 1, 2, 3, ... numbers; each number is its index in its row.
-- ==
-- entry: stairs
-- input { 4i64 } output { [0i64, 0i64, 1i64, 0i64, 1i64, 2i64, 0i64, 1i64, 2i64, 3i64] }
-- input { 0i64 } output { empty([0]i64) }
entry stairs (rows: i64) : []i64 =
  let starts = map (\i -> i * (i + 1) / 2) (iota rows)
  let total = rows * (rows + 1) / 2
  let flags = scatter (replicate total false) starts (replicate rows true)
  in map (\x -> x - 1) (segmented (+) 0 flags (replicate total 1))
