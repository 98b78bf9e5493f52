-- The derivative of a filter is correct in forward mode: an element that is not chosen has no
-- influence.

def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x) xs)

-- ==
-- entry: along_filter
-- input { [1f64, -2f64, 3f64] [7f64, 8f64, 9f64] } output { 68f64 }
entry along_filter [n] (xs: [n]f64) (dir: [n]f64) : f64 =
  jvp (\xs -> squares (filter (> 0) xs)) xs dir
