-- Test cases can have names and can share a line or span several; a test block can list several
-- entry points, and an entry point can have several blocks.

entry inc (x: i32) : i32 = x + 1

entry inc' (x: i32) : i32 = 1 + x

entry dec (x: i32) : i32 = x - 1

-- ==
-- entry: inc inc'
-- "small" input { 1 } output { 2 }
-- "the largest" input { 2147483647 } output { -2147483648 }
-- input { 0 } output { 1 } input { -1 } output { 0 }

-- A comment before the block.
-- It has two lines.
-- ==
-- entry: inc
-- input
-- {
--   41
-- }
-- output
-- {
--   42
-- }

-- ==
-- entry: inc' dec
-- "no output" input { 5 }
-- "and no name"
-- nobench
-- input { 6 }

-- ==
-- entry: dec
-- "small" input { 1 } output { 0 }

-- A block without a name tests `main`.
-- ==
-- input { 1 2 } output { 3 }
def main (x: i32) (y: i32) : i32 = x + y
