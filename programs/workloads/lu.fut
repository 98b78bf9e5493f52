-- Decomposes a matrix into a lower and an upper triangle: updates of a row, a column and a block
-- of a matrix in place, which become smaller in each iteration of a loop.

-- Both triangles in one matrix; the diagonal of the lower one is 1. Without a search for the pivot,
-- which must not be zero.
def decompose [n] (a: *[n][n]f64) : *[n][n]f64 =
  loop a for k < n do
    let pivot = assert (a[k, k] != 0) a[k, k]
    let row = copy a[k, k + 1:]
    let column = map (/ pivot) a[k + 1:, k]
    let block =
      map2 (\l xs -> map2 (\u x -> x - l * u) row xs) column a[k + 1:, k + 1:]
    let a[k + 1:, k] = column
    let a[k + 1:, k + 1:] = block
    in a

-- ==
-- entry: factors
-- input { [[2.0, 1.0], [4.0, 5.0]] } output { [[2.0, 1.0], [2.0, 3.0]] }
-- input { [[2.0, 4.0, 2.0], [1.0, 5.0, 4.0], [3.0, 3.0, 9.0]] }
-- output { [[2.0, 4.0, 2.0], [0.5, 3.0, 3.0], [1.5, -1.0, 9.0]] }
-- input { [[-3.0]] } output { [[-3.0]] }
-- input { empty([0][0]f64) } output { empty([0][0]f64) }
-- input { [[0.0, 1.0], [1.0, 0.0]] } error: a\[k, k\] != 0
entry factors [n] (a: *[n][n]f64) : *[n][n]f64 = decompose a

-- ==
-- entry: determinant
-- input { [[2.0, 4.0, 2.0], [1.0, 5.0, 4.0], [3.0, 3.0, 9.0]] } output { 54.0 }
-- input { empty([0][0]f64) } output { 1.0 }
entry determinant [n] (a: *[n][n]f64) : f64 =
  let lu = decompose a
  in f64.product (map (\k -> lu[k, k]) (iota n))

-- The sum of the factors of a matrix of n by n elements with a large diagonal.
-- ==
-- entry: sum_of_factors
-- input { 0i64 } output { 0.0 }
-- input { 1i64 } output { 2.0 }
-- input { 12i64 } output { 199.5130794912875 }
entry sum_of_factors (n: i64) : f64 =
  let element i j = if i == j then f64.i64 (n + 1) else f64.i64 ((3 * i + 5 * j) % 7) / 4
  in f64.sum (flatten (decompose (tabulate_2d n n element)))
