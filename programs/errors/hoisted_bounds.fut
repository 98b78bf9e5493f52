-- An index that is the same in every round of a loop is still checked. The
-- compilers that we know lose this check when the number of rounds is a constant.
-- The tag keeps the program away from `futhark test`, which would see stray values.

-- ==
-- tags { kills }
-- entry: constant_rounds
-- input { [1i64, 2i64, 3i64] 1i64 } output { 90i64 }
-- input { [1i64, 2i64, 3i64] 3i64 } error: out of bounds
entry constant_rounds [n] (xs: [n]i64) (i: i64) : i64 =
  loop s = 0 for j < 10 do s + xs[i] * j
