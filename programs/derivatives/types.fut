-- Derivatives with respect to records and tuples, of matches of sums, and of conversions between
-- float types are correct in forward and in reverse mode.

type point = {x: f64, y: f64}
type shape = #circle f64 | #box f64 f64

-- ==
-- entry: of_record
-- input { 2f64 3f64 } output { 12f64 4f64 }
entry of_record (x: f64) (y: f64) : (f64, f64) =
  let d = vjp (\(p: point) -> p.x * p.x * p.y) {x, y} 1
  in (d.x, d.y)

-- ==
-- entry: of_sum
-- input { 2f64 3f64 } output { 12f64 3f64 2f64 }
entry of_sum (a: f64) (b: f64) : (f64, f64, f64) =
  let area (s: shape) =
    match s
    case #circle r -> 3 * r * r
    case #box a b -> a * b
  let (da, db) = vjp (\(a, b) -> area (#box a b)) (a, b) 1
  in (vjp (\a -> area (#circle a)) a 1, da, db)

-- ==
-- entry: of_conversions
-- input { 2f64 } output { 4f64 4f64 }
entry of_conversions (x: f64) : (f64, f64) =
  let f x = f64.f32 (f32.f64 x * f32.f64 x)
  in (vjp f x 1, jvp f x 1)

-- ==
-- entry: with_results
-- input { 2f64 } output { 4f64 8f64 4f64 8f64 }
entry with_results (x: f64) : (f64, f64, f64, f64) =
  let (y, dy) = jvp2 (\x -> x * x) x 2
  let (z, dz) = vjp2 (\x -> x * x) x 2
  in (y, dy, z, dz)
