-- Sums: no payload, scalars, arrays, records and sums as payloads.

type pt = {x: f64, y: f64}

type colour = #grey | #rgb u8 u8 u8

type~ shape =
    #point
  | #circle f64
  | #rect f64 f64
  | #path ([]f64) pt
  | #painted colour f16
  | #grid ([][]i32)

def make (which: i32) (xs: []f64) (cells: [][]i32) : shape =
  match which
  case 0 -> #point
  case 1 -> #circle xs[0]
  case 2 -> #rect xs[0] xs[1]
  case 3 -> #path xs {x = xs[0], y = xs[1]}
  case 4 -> #painted (#rgb 1 2 3) 0.5
  case _ -> #grid cells

entry shape (which: i32) (xs: []f64) (cells: [][]i32) : shape = make which xs cells

-- Differs if a payload is in another order.
entry area (s: shape) : f64 =
  match s
  case #point -> 0
  case #circle r -> r * r
  case #rect w h -> w + 2 * h
  case #path xs p -> f64.sum xs + p.x + 3 * p.y
  case #painted c a -> f64.f16 a + (match c case #grey -> 0 case #rgb r g b -> f64.u8 (r + 2 * g + 3 * b))
  case #grid cells -> f64.i32 (i32.sum (map2 (*) (map i32.i64 (indices (flatten cells))) (flatten cells)))

entry same (s: shape) : shape = s

-- Changes a payload in place.
entry poke (s: *shape) (v: f64) : *shape =
  match s
  case #path xs p -> #path (xs with [0] = v) p
  case other -> other
