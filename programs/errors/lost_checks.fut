-- A check fails, also if the result does not depend on what it checks. (Known not to hold: the compilers simplify the
-- result and drop the check.)

-- ==
-- entry: positive
-- input { [1i64, 2i64] } output { [1i64, 2i64] }
-- input { [1i64, -2i64] } error: Assertion is false
entry positive (xs: []i64) : []i64 = map (\x -> assert (x > 0) x) xs

-- ==
-- entry: gather
-- input { 2i64 5i64 [1i64, 0i64] } output { [5i64, 5i64] }
-- input { 2i64 5i64 [1i64, 2i64] } error: out of bounds
entry gather (n: i64) (x: i64) (is: []i64) : []i64 = map (\i -> (replicate n x)[i]) is

-- ==
-- entry: constants
-- input { true 2i64 } output { [6i64, 6i64] }
-- input { false 2i64 } error: Assertion is false
entry constants (ok: bool) (n: i64) : []i64 = map (+ 1) (assert ok (replicate n 5))

-- ==
-- entry: replaced
-- input { 0i64 5i64 } output { [5i64] }
-- input { 7i64 5i64 } error: out of bounds
entry replaced (i: i64) (x: i64) : [1]i64 = let v = [x] in copy v with [i:i + 1] = v
