-- A histogram of booleans with the operator logical or sets the marked elements and changes no
-- others.

-- ==
-- entry: marked
-- input { true } output { [true, true, false, false, false, false, false, false, false, false,
--                          false, false, false, false, false, false] }
-- input { false } output { [false, true, false, false, false, false, false, false, false, false,
--                           false, false, false, false, false, false] }
entry marked (first: bool) : [16]bool =
  reduce_by_index (replicate 16 false) (||) false [0i64, 1] [first, true]
