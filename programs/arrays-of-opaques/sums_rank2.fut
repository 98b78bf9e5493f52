-- A vector and a matrix of the same sum type keep the variant and the payload of every
-- element.

type colour = #grey | #rgb u8 u8 u8 | #named i32

entry code (c: colour) : i32 =
  match c
  case #grey -> 0
  case #rgb r g b -> i32.u8 r * 100 + i32.u8 g * 10 + i32.u8 b
  case #named n -> n

entry square (n: i64) : [n][n]colour =
  tabulate_2d n n (\i j -> if i == j then #grey else #named (i32.i64 (10 * i + j)))

entry diagonal [n] (cs: [n][n]colour) : []colour = map (\i -> cs[i, i]) (iota n)

entry at [n] (cs: [n][n]colour) (i: i64) (j: i64) : colour = cs[i, j]

-- ==
-- entry: grid
-- input { 2i64 } output { [[0, 1], [10, 0]] [0, 0] }
-- input { 0i64 } output { empty([0][0]i32) empty([0]i32) }
entry grid (n: i64) : ([n][n]i32, []i32) =
  let cs = square n
  in (map (map code) cs, map code (diagonal cs))

-- ==
-- entry: code_at
-- input { 2i64 1i64 0i64 } output { 10 }
-- input { 2i64 0i64 2i64 } error: out of bounds
-- input { 2i64 -1i64 0i64 } error: out of bounds
entry code_at (n: i64) (i: i64) (j: i64) : i32 = code (at (square n) i j)
