-- The fields of a tuple with more than ten components are ordered by number: field `10` follows
-- `9`, not `1`.

type twelve = (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)

type state = {t: twelve}

entry count_up (n: i32) : state =
  {t = (n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11)}

entry tenth (t: twelve) : i32 = t.10

entry second (t: twelve) : i32 = t.1

entry weigh (t: twelve) : i32 =
  t.0 + 2 * t.1 + 3 * t.2 + 4 * t.3 + 5 * t.4 + 6 * t.5 + 7 * t.6 + 8 * t.7
  + 9 * t.8
  + 10 * t.9
  + 11 * t.10
  + 12 * t.11

-- ==
-- entry: fields
-- input { 0 } output { 10 1 572 }
-- input { 100 } output { 110 101 8372 }
entry fields (n: i32) : (i32, i32, i32) =
  let t = (count_up n).t
  in (tenth t, second t, weigh t)
