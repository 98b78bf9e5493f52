-- A sum that the compiler can replace by a formula is correct, even if the formula needs more than
-- 64 bits for intermediate results. The program computes 0 + 1 + ... + i for each i.
-- ==
-- entry: triangles
-- input { 5i64 } output { [0i64, 1i64, 3i64, 6i64, 10i64] }
-- input { 0i64 } output { empty([0]i64) }
entry triangles (n: i64) : [n]i64 = map (\i -> i64.sum (iota (i + 1))) (iota n)
