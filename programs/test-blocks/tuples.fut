-- A test block lists the components of a tuple result, whatever its representation in C is.

-- ==
-- entry: halves
-- input { [1, 2, 3] } output { [1] [2, 3] 2i64 }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) 0i64 }
entry halves [n] (xs: [n]i32) : ([]i32, []i32, i64) =
  (take (n / 2) xs, drop (n / 2) xs, n - n / 2)

-- ==
-- entry: one_of_each
-- input { 3 } output { 3 3.0 true [3u8] }
entry one_of_each (x: i32) : (i32, f64, bool, [1]u8) = (x, f64.i32 x, x > 0, [u8.i32 x])
