-- A vector of sums keeps the variant and the payload of each element when it is passed, returned
-- and indexed.

type colour = #grey | #rgb u8 u8 u8 | #named i32

entry colours (n: i64) : []colour =
  let build i =
    if i % 3 == 0
    then #grey
    else if i % 3 == 1 then #rgb (u8.i64 i) 2 3 else #named (i32.i64 (-i))
  in map build (iota n)

entry same (cs: []colour) : []colour = cs

entry backwards (cs: []colour) : []colour = reverse cs

entry nth (cs: []colour) (i: i64) : colour = cs[i]

entry code (c: colour) : i32 =
  match c
  case #grey -> 0
  case #rgb r g b -> i32.u8 r * 100 + i32.u8 g * 10 + i32.u8 b
  case #named n -> n

-- ==
-- entry: codes
-- input { 4i64 } output { [0, -2, 123, 0] }
-- input { 0i64 } output { empty([0]i32) }
entry codes (n: i64) : []i32 = map code (backwards (same (colours n)))

-- ==
-- entry: code_at
-- input { 4i64 2i64 } output { -2 }
-- input { 4i64 4i64 } error: .*
-- input { 0i64 0i64 } error: .*
entry code_at (n: i64) (i: i64) : i32 = code (nth (colours n) i)
