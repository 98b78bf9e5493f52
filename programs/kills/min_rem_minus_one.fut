-- The remainder of the smallest integer and -1 is an error of the call, like the quotient: the
-- processor raises the same signal. Error: integer overflow.

-- ==
-- tags { kills }
-- entry: remainder
-- input { -2147483648 3 } output { -2 }
-- input { -2147483648 -1 } error: .*
-- input { 2147483647 -1 } output { 0 }
entry remainder (x: i32) (y: i32) : i32 = x %% y
