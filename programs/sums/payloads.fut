-- Variants keep their payloads separate: scalars, several values of one type, types that variants
-- share, records, and sums.

type shape = #point | #circle f32 | #rect f32 f32 | #label i64 bool | #scaled {by: f64, n: i32}

type expr = #num i64 | #op (#plus | #minus) i64 i64

type opt 'a = #none | #some a

entry circle (r: f32) : shape = #circle r

entry rect (w: f32) (h: f32) : shape = #rect w h

entry label (n: i64) (b: bool) : shape = #label n b

entry scaled (by: f64) (n: i32) : shape = #scaled {by, n}

entry point : shape = #point

entry same (s: shape) : shape = s

entry flip (s: shape) : shape =
  match s
  case #rect w h -> #rect h w
  case #label n b -> #label (-n) (!b)
  case #scaled {by, n} -> #scaled {by = -by, n = n + 1}
  case other -> other

entry area (s: shape) : f32 =
  match s
  case #point -> 0
  case #circle r -> r * r * 3
  case #rect w h -> w * 10 + h
  case #label n b -> f32.i64 n + f32.bool b
  case #scaled {by, n} -> f32.f64 by + f32.i32 n

entry plus (x: i64) (y: i64) : expr = #op #plus x y

entry eval (e: expr) : i64 =
  match e
  case #num x -> x
  case #op #plus x y -> x + y
  case #op #minus x y -> x - y

entry negate (e: expr) : expr =
  match e
  case #num x -> #num (-x)
  case #op #plus x y -> #op #minus (-x) y
  case #op #minus x y -> #op #minus y x

entry first_positive (xs: []i32) : opt i32 =
  if any (> 0) xs then #some (head (filter (> 0) xs)) else #none

entry or_else (o: opt i32) (d: i32) : i32 = match o case #some x -> x case #none -> d

-- ==
-- entry: areas
-- input { 2f32 3f32 } output { 0f32 12f32 32f32 3f32 0f32 }
-- input { f32.nan 1f32 } output { 0f32 f32.nan f32.nan f32.nan f32.nan }
entry areas (a: f32) (b: f32) : (f32, f32, f32, f32, f32) =
  ( area (same point)
  , area (same (circle a))
  , area (flip (rect a b))
  , area (flip (label (-2) false)) + 0 * a
  , area (flip (scaled (f64.f32 a) 1))
  )

-- ==
-- entry: negated
-- input { 3i64 4i64 } output { 7i64 -7i64 7i64 }
-- input { 9223372036854775807i64 1i64 }
-- output { -9223372036854775808i64 -9223372036854775808i64 -9223372036854775808i64 }
entry negated (x: i64) (y: i64) : (i64, i64, i64) =
  let e = plus x y
  in (eval e, eval (negate e), eval (negate (negate e)))

-- ==
-- entry: found
-- input { [-1, 5, 6] 0 } output { 5 }
-- input { [-1, -5] 7 } output { 7 }
-- input { empty([0]i32) 8 } output { 8 }
entry found (xs: []i32) (d: i32) : i32 = or_else (first_positive xs) d
