-- The caller can create each variant of a sum whose payloads have a fixed size, and pass it to an
-- entry point, also within another sum or a record.

type order = #none | #single i32 i64 | #bulk [2]i32

type nested = #leaf | #first (#three [3]f64 | #scalar i32) | #grid [2][3]i16

type held = {what: order, count: i32}

-- ==
-- entry: total
-- script input { none } output { 0i64 }
-- script input { single 3 4i64 } output { 7i64 }
-- script input { bulk [5, 6] } output { 11i64 }
entry total (o: order) : i64 =
  match o
  case #none -> 0
  case #single a b -> i64.i32 a + b
  case #bulk xs -> i64.i32 (i32.sum xs)

entry none : order = #none

entry single (a: i32) (b: i64) : order = #single a b

entry bulk (xs: [2]i32) : order = #bulk xs

entry weight (n: nested) : f64 =
  match n
  case #leaf -> 0
  case #first (#three xs) -> f64.sum xs
  case #first (#scalar x) -> f64.i32 x
  case #grid rows -> f64.i16 (i16.sum (flatten rows))

-- ==
-- entry: held_total
-- script input { held {what = none, count = 3} } output { 3i64 }
-- script input { held {what = bulk [1, 2], count = 4} } output { 7i64 }
entry held_total (h: held) : i64 = total h.what + i64.i32 h.count

entry held (h: held) : held = h
