-- Derivatives of derivatives are correct, in every combination of the two modes.

def cubes [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x * x) xs)

-- ==
-- entry: scalar
-- input { 2f64 } output { 48f64 48f64 48f64 48f64 }
entry scalar (x: f64) : (f64, f64, f64, f64) =
  let f x = x ** 4
  in ( jvp (\x -> jvp f x 1) x 1
     , jvp (\x -> vjp f x 1) x 1
     , vjp (\x -> jvp f x 1) x 1
     , vjp (\x -> vjp f x 1) x 1
     )

-- The product of the second derivative and a direction.
-- ==
-- entry: curvature
-- input { [1f64, 2f64] [1f64, 10f64] } output { [6f64, 120f64] }
entry curvature [n] (xs: [n]f64) (dir: [n]f64) : [n]f64 = jvp (\xs -> vjp cubes xs 1) xs dir

-- ==
-- entry: matrix
-- input { [1f64, 2f64] } output { [[6f64, 0f64], [0f64, 12f64]] }
entry matrix [n] (xs: [n]f64) : [n][n]f64 =
  let unit i = tabulate n (\j -> f64.bool (i == j))
  in tabulate n (\i -> jvp (\xs -> vjp cubes xs 1) xs (unit i))
