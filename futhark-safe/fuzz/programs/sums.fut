-- Sums with payloads of every kind.

type~ shape = #point | #circle i64 | #path ([]i64) i64 | #grid ([][]i64) | #both ([]i64) ([]i64)

entry poke (s: *shape) (x: i64) : shape =
  match s
  case #path xs k -> #path (xs with [k] = x) k
  case other -> other

entry divide [n] (a: i64) (bs: [n]i64) : [n]i64 = map (a /) bs
