-- The caches of a context can be cleared at any time: calls of many sizes return the same results
-- before and after it.

-- ==
-- entry: triangle
-- input { 5i64 } output { 10i64 }
-- input { 300i64 } output { 44850i64 }
-- input { 1i64 } output { 0i64 }
-- input { 0i64 } output { 0i64 }
-- input { 100i64 } output { 4950i64 }
entry triangle (n: i64) : i64 = i64.sum (map (\i -> i64.sum (map (const 1) (0..<i))) (iota n))

-- ==
-- entry: grown
-- input { [1, 2] 3i32 } output { [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2] }
-- input { [1, 2] 0i32 } output { [1, 2] }
entry grown (xs: []i32) (times: i32) : []i32 =
  loop xs for _i < times do xs ++ xs
