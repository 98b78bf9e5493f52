-- Dividing the smallest integer by -1, which overflows and raises a signal on common processors,
-- is an error of the call. Error: integer overflow.

-- ==
-- tags { kills }
-- entry: divide
-- input { -9223372036854775808i64 2i64 } output { -4611686018427387904i64 }
-- input { -9223372036854775808i64 -1i64 } error: .*
-- input { -9223372036854775807i64 -1i64 } output { 9223372036854775807i64 }
entry divide (x: i64) (y: i64) : i64 = x // y
