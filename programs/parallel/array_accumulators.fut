-- A reduction of arrays within one block of threads keeps the elements of each operand together.
-- Each row is reduced to its array with the largest first element.

-- ==
-- entry: largest
-- input { [[4], [2]] } output { [[4, -4], [2, -2]] }
-- input { [[1, 2, 3], [7, 8, 9]] } output { [[3, -3], [9, -9]] }
entry largest [n] [m] (xss: [n][m]i32) : [n][2]i32 =
  #[incremental_flattening(only_intra)]
  map (\xs ->
         reduce (\(a: [2]i32) (b: [2]i32) -> if a[0] > b[0] then a else b)
                [i32.lowest, 0]
                (map (\x -> [x, -x]) xs))
      xss
