-- Records within records, with tuples and arrays between them, can be projected level by level and
-- created again from their parts.

type point = {x: f64, y: f64}

type line = {from: point, to: point}

type~ drawing = {lines: []line, size: (i32, i32), style: {colour: [3]u8, width: f32}}

type deep = {a: {b: {c: {d: i32}}}}

entry make_line (from: point) (to: point) : line = {from, to}

entry reverse_line (l: line) : line = {from = l.to, to = l.from}

entry line_from (l: line) : point = l.from

entry make_point (x: f64) (y: f64) : point = {x, y}

entry make_drawing (lines: []line) (w: i32) (h: i32) (colour: [3]u8) (width: f32) : drawing =
  {lines, size = (w, h), style = {colour, width}}

entry widen (d: drawing) (factor: f32) : drawing =
  d with style.width = d.style.width * factor

entry make_deep (d: i32) : deep = {a = {b = {c = {d}}}}

entry deepen (x: deep) : deep = x with a.b.c.d = x.a.b.c.d + 1

-- ==
-- entry: ends
-- input { 1f64 2f64 3f64 4f64 } output { 3f64 4f64 1f64 2f64 }
entry ends (a: f64) (b: f64) (c: f64) (d: f64) : (f64, f64, f64, f64) =
  let l = reverse_line (make_line (make_point a b) (make_point c d))
  let p = line_from l
  in (p.x, p.y, l.to.x, l.to.y)

-- ==
-- entry: drawn
-- input { [1f64, 2f64] 640 480 [255u8, 0u8, 128u8] 2f32 }
-- output { 2i64 [-1f64, -2f64] 640 480 [255u8, 0u8, 128u8] 6f32 }
-- input { empty([0]f64) 0 0 [1u8, 2u8, 3u8] f32.inf }
-- output { 0i64 empty([0]f64) 0 0 [1u8, 2u8, 3u8] f32.inf }
entry drawn [n]
            (xs: [n]f64)
            (w: i32)
            (h: i32)
            (colour: [3]u8)
            (width: f32) : (i64, [n]f64, i32, i32, [3]u8, f32) =
  let lines = map (\x -> make_line (make_point x 0) (make_point (-x) 0)) xs
  let d = widen (make_drawing lines w h colour width) 3
  in ( length d.lines
     , map (\l -> l.to.x) d.lines :> [n]f64
     , d.size.0
     , d.size.1
     , d.style.colour
     , d.style.width
     )

-- ==
-- entry: depth
-- input { 1 } output { 2 }
-- input { 2147483647 } output { -2147483648 }
entry depth (d: i32) : i32 = (deepen (make_deep d)).a.b.c.d
