-- Dividing the smallest integer by -1, which overflows and raises a signal on common processors,
-- is an error of the call, and so is the remainder. Error: integer overflow.

-- ==
-- tags { kills }
-- entry: divide
-- input { -9223372036854775808i64 2i64 } output { -4611686018427387904i64 }
-- input { -9223372036854775808i64 -1i64 } error: .*
-- input { -9223372036854775807i64 -1i64 } output { 9223372036854775807i64 }
entry divide (x: i64) (y: i64) : i64 = x // y

-- ==
-- entry: divide_down
-- input { -2147483648 3 } output { -715827883 }
-- input { -2147483648 -1 } error: .*
-- input { -2147483647 -1 } output { 2147483647 }
entry divide_down (x: i32) (y: i32) : i32 = x / y

-- ==
-- entry: remainder
-- input { -2147483648 3 } output { -2 }
-- input { -2147483648 -1 } error: .*
-- input { 2147483647 -1 } output { 0 }
entry remainder (x: i32) (y: i32) : i32 = x %% y
