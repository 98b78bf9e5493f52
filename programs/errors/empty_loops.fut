-- A loop without iterations cannot fail, even if its body would fail in every iteration.

-- ==
-- entry: remainders
-- input { [7, 8] 2 } output { [1, 0] }
-- input { [7, 8] 0 } error: division by zero
-- input { empty([0]i32) 0 } output { empty([0]i32) }
entry remainders [n] (xs: [n]i32) (d: i32) : [n]i32 = map (% d) xs

-- ==
-- entry: indexed
-- input { [7, 8] 2i64 1i64 } output { [8, 8] }
-- input { [7, 8] 2i64 2i64 } error: out of bounds
-- input { [7, 8] 0i64 2i64 } output { empty([0]i32) }
entry indexed (xs: []i32) (n: i64) (i: i64) : [n]i32 = map (\_ -> xs[i]) (iota n)

-- ==
-- entry: asserted
-- input { [1, 2] true } output { [2, 4] }
-- input { [1, 2] false } error: Assertion is false
-- input { empty([0]i32) false } output { empty([0]i32) }
entry asserted [n] (xs: [n]i32) (ok: bool) : [n]i32 = map (\x -> assert ok (2 * x)) xs

-- ==
-- entry: repeated
-- input { 100 2 3 } output { 12 }
-- input { 100 0 3 } error: division by zero
-- input { 100 0 0 } output { 100 }
entry repeated (x: i32) (d: i32) (times: i32) : i32 = loop x for _i < times do x / d
