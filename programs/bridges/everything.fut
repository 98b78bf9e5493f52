-- Exercises bridges to other languages: every kind of value, names that other languages do not
-- allow, and errors after which the context remains usable.

type point = {x: f64, y: f64}

type segment = {from: point, to: point}

type~ polygon = {corners: []point, name: i32, weights: []f32}

type minmax = (i32, i32)

type light = #green | #red | #yellow

type~ shape =
    #circle f64
  | #label i64 bool
  | #lit light
  | #path ([]f64)
  | #point
  | #stretch segment

module counter
  : {
      type t
      val start : i64 -> t
      val step : t -> t
      val get : t -> i64
    } = {
  type t = (i64, bool)
  def start x = (x, true)
  def step (c: t) = (c.0 + 1, !c.1)
  def get (c: t) = if c.1 then c.0 else -c.0
}

-- Scalars and arrays

-- | The successor of each number, and the other truth value.
-- Integers "wrap".
-- ==
-- entry: scalars
-- input { 127i8 32767i16 2147483647i32 9223372036854775807i64 255u8 65535u16 4294967295u32
--         18446744073709551615u64 0.5f16 0.5f32 0.5f64 true }
-- output { -128i8 -32768i16 -2147483648i32 -9223372036854775808i64 0u8 0u16 0u32 0u64
--          1.5f16 1.5f32 1.5f64 false }
entry scalars (a: i8)
              (b: i16)
              (c: i32)
              (d: i64)
              (e: u8)
              (f: u16)
              (g: u32)
              (h: u64)
              (i: f16)
              (j: f32)
              (k: f64)
              (l: bool) : (i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool) =
  (a + 1, b + 1, c + 1, d + 1, e + 1, f + 1, g + 1, h + 1, i + 1, j + 1, k + 1, !l)

-- ==
-- entry: vectors
-- input { [1i8, -2i8] [3i16, -4i16] [5, -6] [7i64, -8i64] [1u8, 255u8] [2u16, 65535u16]
--         [3u32, 4294967295u32] [4u64, 18446744073709551615u64] [0.5f16, -1f16]
--         [1.5f32, -2f32] [2.5f64, -3f64] [true, false] }
-- output { [-2i8, 1i8] [-4i16, 3i16] [-6, 5] [-8i64, 7i64] [255u8, 1u8] [65535u16, 2u16]
--          [4294967295u32, 3u32] [18446744073709551615u64, 4u64] [-1f16, 0.5f16]
--          [-2f32, 1.5f32] [-3f64, 2.5f64] [false, true] }
entry vectors [n]
              (a: [n]i8)
              (b: [n]i16)
              (c: [n]i32)
              (d: [n]i64)
              (e: [n]u8)
              (f: [n]u16)
              (g: [n]u32)
              (h: [n]u64)
              (i: [n]f16)
              (j: [n]f32)
              (k: [n]f64)
              (l: [n]bool) =
  ( reverse a
  , reverse b
  , reverse c
  , reverse d
  , reverse e
  , reverse f
  , reverse g
  , reverse h
  , reverse i
  , reverse j
  , reverse k
  , reverse l
  )

-- ==
-- entry: transposed
-- input { [[1, 2, 3], [4, 5, 6]] } output { [[1, 4], [2, 5], [3, 6]] }
-- input { empty([2][0]i32) } output { empty([0][2]i32) }
entry transposed [n] [m] (xss: [n][m]i32) : [m][n]i32 = transpose xss

-- ==
-- entry: flipped
-- input { [[[true, false, true]]] } output { [[[false, true, false]]] }
entry flipped [n] [m] [k] (xsss: [n][m][k]bool) : [n][m][k]bool = map (map (map (\x -> !x))) xsss

-- ==
-- entry: answer
-- input {} output { 42 }
entry answer : i32 = 42

-- Records and tuples

-- ==
-- entry: length
-- input { 1f64 2f64 4f64 6f64 } output { 5f64 }
entry length (x0: f64) (y0: f64) (x1: f64) (y1: f64) : f64 =
  let (dx, dy) = (x1 - x0, y1 - y0)
  in f64.sqrt (dx * dx + dy * dy)

entry segment_length (s: segment) : f64 = length s.from.x s.from.y s.to.x s.to.y

entry turned (s: segment) : segment = {from = s.to, to = s.from}

entry first_corner (p: polygon) : point = p.corners[0]

entry moved (p: polygon) (by: point) : polygon =
  p with corners = map (\c -> {x = c.x + by.x, y = c.y + by.y}) p.corners

entry range (xs: []i32) : minmax = (i32.minimum xs, i32.maximum xs)

entry width ((low, high): minmax) : i32 = high - low

entry nested (x: i32) (ok: bool) : (i32, (bool, [2]i32)) = (x, (ok, [x, -x]))

-- Unit

entry nothing (_: i32) : () = ()

entry marked (x: i32) : {mark: (), x: i32} = {mark = (), x}

entry unmarked (_: ()) (x: i32) : i32 = x

-- Sums

entry next_light (l: light) : light =
  match l
  case #green -> #yellow
  case #yellow -> #red
  case #red -> #green

entry size (s: shape) : f64 =
  match s
  case #circle r -> r * r
  case #label n b -> if b then f64.i64 n else 0
  case #lit _ -> 1
  case #path xs -> f64.sum xs
  case #point -> 0
  case #stretch s -> segment_length s

entry grown (s: shape) : shape =
  match s
  case #circle r -> #circle (r + 1)
  case #label n b -> #label (n + 1) (!b)
  case #lit l -> #lit (next_light l)
  case #path xs -> #path (map (+ 1) xs)
  case other -> other

-- Arrays of opaque values

entry mirrored (ps: []point) : []point = map (\p -> {x = p.y, y = p.x}) ps

entry lights (n: i64) : []light = map (\i -> if i % 2 == 0 then #red else #green) (iota n)

entry next_lights [n] (ls: [n]light) : [n]light = map next_light ls

entry split [n] (xs: [n](i32, bool)) : ([n]i32, [n]bool) = unzip xs

-- Abstract types

entry counters (n: i64) : []counter.t = map counter.start (iota n)

entry count_from (x: i64) : counter.t = counter.start x

entry step (c: counter.t) : counter.t = counter.step c

entry count (c: counter.t) : i64 = counter.get c

-- Consumption

def constants : [3]i32 = [10, 20, 30]

entry table (_: i32) : [3]i32 = copy constants

entry same (xs: []i32) : []i32 = xs

-- ==
-- entry: cleared
-- input { [1, 2, 3] 1i64 } output { [1, 0, 3] }
-- input { [1, 2, 3] 3i64 } error: .*
entry cleared (xs: *[]i32) (i: i64) : *[]i32 = xs with [i] = 0

entry renamed (p: *polygon) (name: i32) : *polygon =
  p with name = name with weights = map (\w -> w + 1) p.weights

-- Errors

-- ==
-- entry: at
-- input { [1, 2, 3] 2i64 } output { 3 }
-- input { [1, 2, 3] 10i64 } error: .*
-- input { [1, 2, 3] 0i64 } output { 1 }
entry at (xs: []i32) (i: i64) : i32 = xs[i]

-- ==
-- entry: divided
-- input { 7 2 } output { 3 }
-- input { 7 0 } error: .*
-- input { 7 -2 } output { -4 }
entry divided (x: i32) (y: i32) : i32 = x / y

-- ==
-- entry: root
-- input { 9f64 } output { 3f64 }
-- input { -1f64 } error: .*
entry root (x: f64) : f64 = f64.sqrt (assert (x >= 0) x)

-- ==
-- entry: dot
-- input { [1, 2] [3, 4] } output { 11 }
-- input { [1, 2] [3] } error: .*
entry dot [n] (xs: [n]i32) (ys: [n]i32) : i32 = i32.sum (map2 (*) xs ys)

-- Names

-- ==
-- entry: close
-- input { 1 2 } output { 12 }
entry close (self: i32) (None: i32) : i32 = 10 * self + None

entry lambda (_: i32) (_: i32) : {class: i32, class': i32, copy: i32} =
  {class = 1, class' = 2, copy = 3}

-- ==
-- entry: f'
-- input { 1 } output { 2 }
entry f' (x: i32) : i32 = x + 1

-- ==
-- entry: f_prime
-- input { 1 } output { 3 }
entry f_prime (x: i32) : i32 = x + 2

-- ==
-- entry: +++
-- input { 1 2 } output { 3 }
entry (+++) (x: i32) (y: i32) : i32 = x + y
