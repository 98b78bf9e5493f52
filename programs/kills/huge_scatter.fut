-- A scatter into an array whose size in bytes would wrap to a small one is an error of the call,
-- not a write at an offset that the caller chose. Error: size overflow.

-- ==
-- tags { kills unordered_write_at }
-- entry: write_at
-- input { 4i64 [2i64] [9] } output { 9 }
-- input { 4611686018427387904i64 [1000i64] [9] } error: .*
-- input { 4611686018427387905i64 [100000000i64] [9] } error: .*
-- input { 4i64 [1i64] [8] } output { 8 }
entry write_at [k] (n: i64) (is: [k]i64) (vs: [k]i32) : i32 =
  let xs = scatter (replicate n 0) is vs
  in xs[is[0]]
