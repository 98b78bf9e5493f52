-- Multiplies matrices: a reduction for every pair of a row and a column, shapes that must agree
-- in the inner dimension, and a power by repeated squaring.

def product [n] [m] [p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose b)) a

-- ==
-- entry: multiply
-- input { [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]] }
-- output { [[4.0, -1.0], [10.0, -1.0]] }
-- input { [[2.0], [3.0]] [[5.0, 7.0]] } output { [[10.0, 14.0], [15.0, 21.0]] }
-- input { empty([0][2]f64) [[1.0], [2.0]] } output { empty([0][1]f64) }
-- input { empty([2][0]f64) empty([0][1]f64) } output { [[0.0], [0.0]] }
-- input { [[1.0, 2.0]] [[1.0, 2.0]] } error: .*
entry multiply [n] [m] [p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 = product a b

-- ==
-- entry: power
-- input { [[1.0, 1.0], [1.0, 0.0]] 10i32 } output { [[89.0, 55.0], [55.0, 34.0]] }
-- input { [[2.0]] 0i32 } output { [[1.0]] }
-- input { empty([0][0]f64) 3i32 } output { empty([0][0]f64) }
entry power [n] (a: [n][n]f64) (exponent: i32) : [n][n]f64 =
  let one = tabulate_2d n n (\i j -> f64.bool (i == j))
  let (result, _, _) =
    loop (result: [n][n]f64, square: [n][n]f64, left) = (one, a, exponent)
    while left > 0 do
      ( if left % 2 == 1 then product result square else result
      , product square square
      , left / 2
      )
  in result

-- The sum of the product of two matrices of n by n elements.
-- ==
-- entry: sum_of_product
-- input { 0i64 } output { 0.0 }
-- input { 2i64 } output { 2.203125 }
-- input { 20i64 } output { 3738.125 }
entry sum_of_product (n: i64) : f64 =
  let a = tabulate_2d n n (\i j -> f64.i64 ((7 * i + 3 * j) % 11) / 8)
  let b = tabulate_2d n n (\i j -> f64.i64 ((5 * i + 9 * j) % 13) / 8)
  in f64.sum (flatten (product a b))
