-- A record of scalars can be created, projected, passed and returned; its fields are in
-- alphabetical order, whatever their order in the source is.

type point = {y: f64, x: f64}

type mixed = {flag: bool, byte: u8, half: f16, long: i64, single: f32}

entry make_point (x: f64) (y: f64) : point = {x, y}

entry move_point (p: point) (dx: f64) (dy: f64) : point =
  {x = p.x + dx, y = p.y + dy}

entry same_point (p: point) : point = p

entry mirror (p: point) (q: point) : (point, point) = (q, p)

entry make_mixed (flag: bool) (byte: u8) (half: f16) (long: i64) (single: f32) : mixed =
  {single, long, half, byte, flag}

entry negate_mixed (m: mixed) : mixed =
  { flag = !m.flag
  , byte = 255 - m.byte
  , half = -m.half
  , long = -m.long
  , single = -m.single
  }

-- ==
-- entry: moved
-- input { 1f64 2f64 0.5f64 -0.5f64 } output { 1.5f64 1.5f64 }
-- input { f64.inf f64.nan 1f64 1f64 } output { f64.inf f64.nan }
entry moved (x: f64) (y: f64) (dx: f64) (dy: f64) : (f64, f64) =
  let p = same_point (move_point (make_point x y) dx dy)
  in (p.x, p.y)

-- ==
-- entry: mirrored
-- input { 1f64 2f64 3f64 4f64 } output { 3f64 4f64 1f64 2f64 }
entry mirrored (a: f64) (b: f64) (c: f64) (d: f64) : (f64, f64, f64, f64) =
  let (p, q) = mirror (make_point a b) (make_point c d)
  in (p.x, p.y, q.x, q.y)

-- ==
-- entry: negated
-- input { true 1u8 1.5f16 -9223372036854775807i64 f32.inf }
-- output { false 254u8 -1.5f16 9223372036854775807i64 -f32.inf }
-- input { false 255u8 f16.nan 0i64 f32.nan }
-- output { true 0u8 f16.nan 0i64 f32.nan }
entry negated (flag: bool)
              (byte: u8)
              (half: f16)
              (long: i64)
              (single: f32) : (bool, u8, f16, i64, f32) =
  let m = negate_mixed (make_mixed flag byte half long single)
  in (m.flag, m.byte, m.half, m.long, m.single)
