-- An assertion in a map holds for each element, also if the map returns its argument. (Known not to hold: the
-- compilers take such a map for the identity.)

-- ==
-- entry: positive
-- input { [1i64, 2i64] } output { [1i64, 2i64] }
-- input { [1i64, -2i64] } error: Assertion is false
entry positive (xs: []i64) : []i64 = map (\x -> assert (x > 0) x) xs
