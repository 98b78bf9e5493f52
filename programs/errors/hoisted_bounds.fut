-- An index that is the same in every iteration of a loop is still checked. The tested compilers
-- omit this check if the number of iterations is a constant. The tag excludes the program from
-- `futhark test`, which would report arbitrary values.

-- ==
-- tags { kills }
-- entry: constant_rounds
-- input { [1i64, 2i64, 3i64] 1i64 } output { 90i64 }
-- input { [1i64, 2i64, 3i64] 3i64 } error: out of bounds
entry constant_rounds [n] (xs: [n]i64) (i: i64) : i64 =
  loop s = 0 for j < 10 do s + xs[i] * j
