-- Test blocks and test cases: names, a list of entry points, several blocks for one of them,
-- several cases on a line, and cases over several lines.

entry inc (x: i32) : i32 = x + 1

entry inc' (x: i32) : i32 = 1 + x

entry dec (x: i32) : i32 = x - 1

-- ==
-- entry: inc inc'
-- "small" input { 1 } output { 2 }
-- "the largest" input { 2147483647 } output { -2147483648 }
-- input { 0 } output { 1 } input { -1 } output { 0 }

-- Some words first.
-- And some more.
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

-- Without a name it is about main.
-- ==
-- input { 1 2 } output { 3 }
def main (x: i32) (y: i32) : i32 = x + y
