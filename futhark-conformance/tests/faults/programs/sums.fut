-- A sum whose variants can be told apart by their payloads.

type shape = #circle f32 | #rectangle f32 f32 | #nothing

entry area (s: shape): f32 =
  match s
  case #circle r -> r * r * 3
  case #rectangle a b -> a * b
  case #nothing -> 0

entry circle (r: f32): shape = #circle r
