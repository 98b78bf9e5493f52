-- Derivatives of functions that choose elements are correct in reverse mode: an element that is
-- not chosen has no influence.

def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x) xs)

-- ==
-- entry: of_filter
-- input { [1f64, -2f64, 3f64] } output { [2f64, 0f64, 6f64] }
-- input { [-1f64] } output { [0f64] }
entry of_filter [n] (xs: [n]f64) : [n]f64 = vjp (\xs -> squares (filter (> 0) xs)) xs 1

-- ==
-- entry: of_partition
-- input { [1f64, -2f64, 3f64] } output { [2f64, 1f64, 6f64] }
entry of_partition [n] (xs: [n]f64) : [n]f64 =
  let f xs = let (ps, ns) = partition (> 0) xs in squares ps + f64.sum ns
  in vjp f xs 1
