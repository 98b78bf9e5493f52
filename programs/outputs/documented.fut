-- Documentation comments and attributes, which newer compilers copy to the manifest, do not affect
-- calls, even if they contain quotes, tabs or line breaks.

-- | Adds one.
-- A second line, with "quotes", a backslash \ and an é.
-- ==
-- entry: plain
-- input { 1 } output { 2 }

entry plain (x: i32) : i32 = x + 1

-- | A vector's length.
#[cheap] #[cost(linear,2)]
entry attributed [n] (_: [n]f32) : i64 = n

-- ==
-- entry: attributed
-- input { [1f32, 2f32] } output { 2i64 }
-- input { empty([0]f32) } output { 0i64 }

-- | A documented type.
type documented = {value: i32}

entry wrap (value: i32) : documented = {value}

-- ==
-- entry: unwrap
-- input { 5 } output { 5 }
entry unwrap (x: i32) : i32 = (wrap x).value
