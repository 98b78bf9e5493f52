-- Derivatives that the compiler computes in forward mode and in reverse mode agree, also through
-- loops, reductions and scans.

def f (xs: []f64) : f64 = f64.sum (map (\x -> x * x * x) xs)

-- ==
-- entry: gradient
-- input { [1.0, 2.0, 3.0] } output { [3.0, 12.0, 27.0] }
-- input { empty([0]f64) } output { empty([0]f64) }
entry gradient [n] (xs: [n]f64) : [n]f64 = vjp f xs 1

-- ==
-- entry: along
-- input { [1.0, 2.0] [1.0, 0.0] } output { 3.0 }
-- input { [1.0, 2.0] [1.0, 1.0] } output { 15.0 }
entry along [n] (xs: [n]f64) (dir: [n]f64) : f64 = jvp f xs dir

-- ==
-- entry: of_product
-- input { [2.0, 3.0, 4.0] } output { [12.0, 8.0, 6.0] }
entry of_product [n] (xs: [n]f64) : [n]f64 = vjp f64.product xs 1

-- ==
-- entry: of_loop
-- input { 2.0 3i32 } output { 12.0 }
-- input { 2.0 0i32 } output { 0.0 }
entry of_loop (x: f64) (n: i32) : f64 =
  vjp (\x -> if n == 0 then 0 else loop y = 1.0 for _i < n do y * x) x 1
