-- Derivatives of scatters and of updates in place are correct in forward and in reverse mode: a
-- value that was replaced has no influence.

def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x) xs)

-- ==
-- tags { unordered_of_scatter unordered_of_scatter_along unordered_of_spread }
-- entry: of_scatter
-- input { [1f64, 2f64, 3f64] [2i64, 9i64, 0i64] [5f64, 6f64, 7f64] }
-- output { [0f64, 4f64, 0f64] [10f64, 0f64, 14f64] }
entry of_scatter [k] [n] (dest: [k]f64) (is: [n]i64) (xs: [n]f64) : ([k]f64, [n]f64) =
  vjp (\(dest, xs) -> squares (scatter (copy dest) is xs)) (dest, xs) 1

-- ==
-- entry: of_scatter_along
-- input { [1f64, 2f64, 3f64] [2i64, 9i64, 0i64] [5f64, 6f64, 7f64] [1f64, 1f64, 1f64] }
-- output { [1f64, 1f64, 1f64] }
entry of_scatter_along [k] [n] (dest: [k]f64) (is: [n]i64) (xs: [n]f64) (dir: [n]f64) : [k]f64 =
  jvp (\(dest, xs) -> scatter (copy dest) is xs) (dest, xs) (map (const 1) dest, dir)

-- ==
-- entry: of_spread
-- input { [2i64, 9i64, 0i64] [5f64, 6f64, 7f64] } output { [10f64, 0f64, 14f64] }
entry of_spread [n] (is: [n]i64) (xs: [n]f64) : [n]f64 = vjp (squares <-< spread 3 1 is) xs 1

-- ==
-- entry: of_update
-- input { [1f64, 2f64, 3f64] 1i64 } output { [2f64, 0f64, 60f64] [0f64, 3f64, 1f64] }
entry of_update [n] (xs: [n]f64) (i: i64) : ([n]f64, [n]f64) =
  let f xs = copy xs with [i] = 3 * xs[i + 1]
  in (vjp (squares <-< f) xs 1, jvp f xs (tabulate n (\j -> f64.bool (j > 1))))

-- ==
-- entry: of_slice_update
-- input { [1f64, 2f64, 3f64] [5f64, 6f64] } output { [2f64, 0f64, 0f64] [10f64, 12f64] }
entry of_slice_update [n] (xs: [n]f64) (ys: [2]f64) : ([n]f64, [2]f64) =
  vjp (\(xs, ys) -> squares (copy xs with [1:3] = ys)) (xs, ys) 1
