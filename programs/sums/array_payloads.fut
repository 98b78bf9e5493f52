-- A variant can have one or several arrays of different types, ranks and shapes as its payload, or
-- no payload; the arrays may be empty.

type~ route = #empty | #track ([]f64) | #named ([]u8) ([][]i32)

module work = {
  -- A sum type has the sizes of all its variants, so a function that always returns
  -- `#empty` would leave them unknown and cannot be an entry point.
  def make (which: i32) (xs: []f64) (name: []u8) (steps: [][]i32) : route =
    match which
    case 0 -> #empty
    case 1 -> #track xs
    case _ -> #named name steps

  def turn (r: route) : route =
    match r
    case #empty -> #empty
    case #track xs -> #track (reverse xs)
    case #named name steps -> #named (reverse name) (reverse steps)

  def size (r: route) : i64 =
    match r
    case #empty -> -1
    case #track xs -> length xs
    case #named name steps -> 100 * length name + length steps

  def track_or (r: route) (d: []f64) : []f64 =
    match r
    case #track xs -> copy xs
    case _ -> copy d
}

entry make (which: i32) (xs: []f64) (name: []u8) (steps: [][]i32) : route =
  work.make which xs name steps

entry same (r: route) : route = r

entry turn (r: route) : route = work.turn r

entry size (r: route) : i64 = work.size r

entry track_or (r: route) (d: []f64) : []f64 = work.track_or r d

-- ==
-- entry: sizes
-- input { [1f64, 2f64] [65u8] [[1, 2, 3]] } output { -1i64 2i64 101i64 }
-- input { empty([0]f64) empty([0]u8) empty([2][0]i32) } output { -1i64 0i64 2i64 }
entry sizes (xs: []f64) (name: []u8) (steps: [][]i32) : (i64, i64, i64) =
  let make which = work.make which xs name steps
  in ( work.size (work.turn (make 0))
     , work.size (work.turn (make 1))
     , work.size (work.turn (make 2))
     )

-- ==
-- entry: turned
-- input { [1f64, 2f64, f64.nan] } output { [f64.nan, 2f64, 1f64] [0f64] }
-- input { empty([0]f64) } output { empty([0]f64) [0f64] }
entry turned (xs: []f64) : ([]f64, []f64) =
  let make which = work.make which xs [65] [[1]]
  in (work.track_or (work.turn (make 1)) [0], work.track_or (make 0) [0])
