-- Dividing the smallest integer by -1 in a parallel loop is an error of the call on any worker.
-- Error: integer overflow. (Known not to hold on GPU backends: devices raise no signal and return
-- a number.)

-- ==
-- tags { kills }
-- entry: quotients
-- input { 20000i64 [6i64, 9i64] [2i64, 3i64] 77i64 } output { 60000i64 }
-- input { 20000i64 [6i64, -9223372036854775808i64] [2i64, -1i64] 19999i64 } error: .*
-- input { 20000i64 [6i64, -9223372036854775808i64] [2i64, -1i64] 1i64 } error: .*
-- input { 20000i64 [6i64, 9i64] [2i64, 3i64] 77i64 } output { 60000i64 }
entry quotients (n: i64) (xs: [2]i64) (ys: [2]i64) (bad: i64) : i64 =
  let pick i = if i == bad then 1i64 else 0i64
  in i64.sum (map (\i -> xs[pick i] // ys[pick i]) (iota n))
