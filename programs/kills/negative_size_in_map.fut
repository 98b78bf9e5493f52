-- Allocating an array of negative size in a parallel loop, on a worker, is an error of the call;
-- the process continues. Error: invalid size (plain programs exit).

def work (n: i64) (x: i64) : i64 =
  let xs = replicate n x
  let ys = loop xs for i < n - 1 do xs with [(i * 7) % n] = xs[i] + i
  in ys[n - 1]

-- Iteration `bad` allocates `size` elements, every other iteration eight.
-- ==
-- tags { kills }
-- entry: one_bad
-- input { 4000i64 -1i64 8i64 } output { 8002000i64 }
-- input { 4000i64 0i64 -5i64 } error: .*
-- input { 4000i64 3999i64 -5i64 } error: .*
-- input { 4000i64 2100i64 -5i64 } error: .*
-- input { 4000i64 -1i64 8i64 } output { 8002000i64 }
-- input { 0i64 0i64 -5i64 } output { 0i64 }
entry one_bad (n: i64) (bad: i64) (size: i64) : i64 =
  i64.sum (map (\i -> work (if i == bad then size else 8) i) (iota n))
