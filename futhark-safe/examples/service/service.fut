-- Errors of a call become responses: an assertion or an index out of bounds is the client's mistake.

-- | The mean, the minimum and the maximum.
entry summary [n] (xs: [n]f64) : (f64, f64, f64) =
  let count = assert (n > 0) (f64.i64 n)
  in (f64.sum xs / count, f64.minimum xs, f64.maximum xs)

-- | The last of the numbers from 0 to `n - 1`, which are all in memory. Fails if memory is missing.
entry fill (n: i64) : i64 = (opaque (iota n))[n - 1]

-- | Loses the context if `y` is -1 and `x` is the smallest number: the quotient overflows.
entry divide (x: i64) (y: i64) : i64 = x // y
