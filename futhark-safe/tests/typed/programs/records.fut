-- Records and tuples: nested, with arrays and f16 in them, two names for one structure.

type pt = {x: f64, y: f64}

type place = {x: f64, y: f64}

type line = {from: pt, to: pt}

type~ mixed = {zeta: []i32, alpha: f16, mid: line, flag: bool, size: (i32, u8)}

type vec [n] = {xs: [n]f32}

type two [n] = {left: [n]i32, right: [n]i32}

entry make (x: f64) (y: f64) : pt = {x, y}

entry settle (p: pt) : place = {x = p.x + 1, y = p.y}

entry norm (p: place) : f64 = f64.sqrt (p.x * p.x + p.y * p.y)

entry reverse_line (l: line) : line = {from = l.to, to = l.from}

entry mix (zeta: []i32) (alpha: f16) : mixed =
  { zeta
  , alpha
  , mid = {from = {x = 1, y = 2}, to = {x = 3, y = 4}}
  , flag = true
  , size = (5, 6)
  }

entry describe (m: mixed) : f64 =
  f64.i32 (i32.sum m.zeta)
  + f64.f16 m.alpha
  + m.mid.to.y
  + f64.bool m.flag
  + f64.i32 m.size.0

entry vec [n] (xs: [n]f32) : vec [n] = {xs}

entry dot [n] (a: vec [n]) (b: vec [n]) : f32 = f32.sum (map2 (*) a.xs b.xs)

entry two_total [n] (t: two [n]) : i32 = i32.sum (map2 (+) t.left t.right)

-- The parameter is a pattern.
entry difference ({x, y}: pt) : f64 = x - y
