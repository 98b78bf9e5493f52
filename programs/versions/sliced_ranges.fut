-- A range with a step may be sliced.

-- ==
-- entry: sliced
-- input { 3i64 5i64 9i64 2i64 } output { [7i64, 9i64] }
entry sliced (first: i64) (second: i64) (last: i64) (start: i64) : []i64 =
  let numbers = first..second...last
  in numbers[start:]
