-- | The period of a signal: the shift, from 1 to `longest`, at which the signal is most similar to itself.
entry period [n] (longest: i64) (signal: [n]f32) : i64 =
  let mean = f32.sum signal / f32.i64 n
  let xs = map (\x -> x - mean) signal
  let similarity (shift: i64) =
    let m = n - shift
    in f32.sum (map2 (*) (xs[:m] :> [m]f32) (xs[shift:] :> [m]f32)) / f32.i64 m
  let later (i: i64, a: f32) (j: i64, b: f32) = if b > a then (j, b) else (i, a)
  in (loop best = (0, -f32.inf) for k < longest do later best (k + 1, similarity (k + 1))).0
