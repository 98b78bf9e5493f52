-- The conjunction of no elements is true.

-- ==
-- entry: all
-- input { empty([0]i32) } output { true }
-- input { [1, 2] } output { false }
entry all [n] (_: [n]i32) : bool = reduce (&&) true (reverse (replicate n false))
