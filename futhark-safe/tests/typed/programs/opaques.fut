-- Opaque values as handles.

type pt = { x: f64, y: f64 }

type shape = #circle f64 | #segment pt pt

entry point (x: f64) (y: f64) : pt = { x, y }

entry points [n] (xs: [n]f64) (ys: [n]f64) : [n]pt = map2 (\x y -> { x, y }) xs ys

entry norm (p: pt) : f64 = f64.sqrt (p.x * p.x + p.y * p.y)

entry total [n] (ps: [n]pt) : f64 = f64.sum (map (\p -> p.x + p.y) ps)

entry circle (r: f64) : shape = #circle r

entry segment (p: pt) (q: pt) : shape = #segment p q

entry corners (s: shape) : i64 =
  match s
  case #circle _ -> 0
  case #segment _ _ -> 2

type~ buffer = { data: []i32, tag: i32 }

entry buffer (data: []i32) (tag: i32) : buffer = { data, tag }

entry data (b: buffer) : []i32 = b.data

-- Consumes a record and changes its array in place.
entry poke_buffer (b: *buffer) (v: i32) : *[]i32 = b.data with [0] = v
