-- A matrix whose number of elements does not fit in 64 bits is an error of the call, even if each
-- of its dimensions fits. Error: size overflow or out of memory.

-- ==
-- tags { kills }
-- entry: products
-- input { 2i64 2i64 } output { [[0i64, 0i64], [0i64, 1i64]] }
-- input { 8589934592i64 2147483648i64 } error: .*
-- input { 4294967296i64 4294967296i64 } error: .*
-- input { -3i64 2i64 } error: .*
-- input { 1i64 2i64 } output { [[0i64, 0i64]] }
entry products (n: i64) (m: i64) : [n][m]i64 = tabulate_2d n m (\i j -> i * j)
