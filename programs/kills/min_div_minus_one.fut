-- Dividing the smallest integer by -1 with rounding down (`/`) also overflows and is an error of
-- the call. Error: integer overflow.

-- ==
-- tags { kills }
-- entry: divide
-- input { -2147483648 3 } output { -715827883 }
-- input { -2147483648 -1 } error: .*
-- input { -2147483647 -1 } output { 2147483647 }
entry divide (x: i32) (y: i32) : i32 = x / y
