-- The derivative of a histogram with an operator of the program is correct in reverse mode, also
-- without any value.

def squares [n] (xs: [n]f64) : f64 = f64.sum (map (\x -> x * x) xs)

-- The operator computes (1 + x) * (1 + y) - 1.
-- ==
-- entry: of_operator
-- input { [0i64, 2i64, 0i64, 9i64] [1f64, 2f64, 3f64, 4f64] }
-- output { [56f64, 4f64, 28f64, 0f64] }
-- input { empty([0]i64) empty([0]f64) } output { empty([0]f64) }
entry of_operator [n] (is: [n]i64) (xs: [n]f64) : [n]f64 =
  vjp (\xs -> squares (hist (\x y -> x + y + x * y) 0 3 is xs)) xs 1
