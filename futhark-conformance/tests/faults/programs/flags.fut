-- Booleans, alone and in arrays.

-- ==
-- entry: any
-- input { [false, true] } output { true }
-- input { [false, false] } output { false }
entry any (bs: []bool): bool = or bs

-- ==
-- entry: flipped
-- input { [false, true] } output { [true, false] }
entry flipped (bs: []bool): []bool = map (\b -> !b) bs
