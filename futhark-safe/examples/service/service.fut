-- What the server computes. Errors of a call become responses: an assertion or an index out of
-- bounds is the client's mistake.

-- | The mean, the standard deviation, the minimum and the maximum.
entry summary [n] (xs: [n]f64) : (f64, f64, f64, f64) =
  let count = assert (n > 0) (f64.i64 n)
  let sum = f64.sum xs
  let squares = f64.sum (map (\x -> x * x) xs)
  let variance = f64.max 0 ((squares - sum * sum / count) / count)
  in (sum / count, f64.sqrt variance, f64.minimum xs, f64.maximum xs)

-- | How many numbers are in each of `bins` intervals of equal width between `low` and `high`.
-- Others are not counted.
entry histogram (bins: i64) (low: f64) (high: f64) (xs: []f64) : [bins]i64 =
  let bin (x: f64) : i64 =
    if x >= low && x < high
    then i64.min (bins - 1) (i64.f64 ((x - low) / (high - low) * f64.i64 bins))
    else -1
  in reduce_by_index (replicate bins 0) (+) 0 (map bin xs) (map (const 1) xs)

-- | The mean of each number and its neighbours, up to `radius` on each side.
entry smooth [n] (radius: i64) (xs: [n]f64) : [n]f64 =
  let sums = [0] ++ scan (+) 0 xs
  in tabulate n (\i ->
       let (from, to) = (i64.max 0 (i - radius), i64.min n (i + radius + 1))
       in (sums[to] - sums[from]) / f64.i64 (to - from))

-- | The number at an index. Fails if it is out of bounds.
entry at (xs: []f64) (i: i64) : f64 = xs[i]

-- | Allocates `n` numbers. Fails if memory is missing.
entry fill (n: i64) : f64 =
  let xs = opaque (tabulate n f64.i64)
  in if n == 0 then 0 else xs[n - 1]

-- | Loses the context if `y` is -1 and `x` is the smallest number: the quotient overflows.
entry divide (x: i64) (y: i64) : i64 = x // y
