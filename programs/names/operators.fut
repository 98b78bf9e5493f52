-- An operator can be an entry point: its C name is derived from the characters of the operator,
-- and the operands keep their order.

-- ==
-- entry: +++
-- input { 1 2 } output { 102 }
-- input { -1 2147483647 } output { 2147483547 }
entry (+++) (x: i32) (y: i32) : i32 = 100 * x + y

-- ==
-- entry: <*>
-- input { [1f32, 2f32] [3f32, 4f32] } output { 11f32 }
-- input { empty([0]f32) empty([0]f32) } output { 0f32 }
-- input { [1f32] empty([0]f32) } error: .*
entry (<*>) [n] (xs: [n]f32) (ys: [n]f32) : f32 = f32.sum (map2 (*) xs ys)

-- ==
-- entry: ==>
-- input { true false } output { false }
-- input { false false } output { true }
entry (==>) (a: bool) (b: bool) : bool = !a || b

-- ==
-- entry: -!
-- input { 5 3 } output { 2 }
entry (-!) (x: i32) (y: i32) : i32 = x - y
