-- Reductions, scans and scatters that are large enough for several threads and several blocks of
-- threads, with results that can be computed by hand.

-- ==
-- entry: sum
-- input { 0i64 } output { 0i64 }
-- input { 1i64 } output { 1i64 }
-- input { 3000i64 } output { 4501500i64 }
entry sum (n: i64): i64 = reduce (+) 0 (map (+ 1) (iota n))

-- The first, the middle and the last of the running sums.
-- ==
-- entry: running
-- input { 3000i64 } output { [1i64, 1125750i64, 4501500i64] }
entry running (n: i64): []i64 =
  let sums = scan (+) 0 (map (+ 1) (iota n))
  in [sums[0], sums[n / 2 - 1], sums[n - 1]]

-- A reversed sequence.
-- ==
-- entry: turned
-- input { 5i64 } output { [4i64, 3i64, 2i64, 1i64, 0i64] }
entry turned (n: i64): []i64 =
  scatter (replicate n (-1)) (map (\i -> n - 1 - i) (iota n)) (iota n)

-- ==
-- entry: circumference
-- input { 2f32 } output { 12.566371f32 }
entry circumference (r: f32): f32 = 2 * f32.pi * r
