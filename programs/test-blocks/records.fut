-- A test block shows the first part of a result that has no notation: of a record the field whose
-- name is first in the alphabet, of an array of tuples the array of first components, of a sum its
-- tag.

type measure = {value: f32, name: i64}
type shape = #circle f64 | #box f64 f64

-- ==
-- entry: measured
-- input { 1.5f32 7i64 } output { 7i64 }
entry measured (value: f32) (name: i64) : measure = {value, name}

-- ==
-- entry: pairs
-- input { [1i32, 2i32] } output { [1i32, 2i32] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry pairs [n] (xs: [n]i32) : [n](i32, bool) = map (\x -> (x, x > 1)) xs

-- ==
-- entry: shaped
-- input { 1f64 1f64 } output { 0i8 }
-- input { 1f64 0f64 } output { 1i8 }
entry shaped (a: f64) (b: f64) : shape = if b > 0 then #box a b else #circle a

-- ==
-- entry: with_others
-- input { 2i32 } output { 2i32 4f32 6i64 }
entry with_others (x: i32) : (i32, {a: f32, b: bool}, i64) =
  (x, {a = f32.i32 (2 * x), b = true}, i64.i32 (3 * x))
