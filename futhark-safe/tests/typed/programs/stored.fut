-- Values of every form, to be stored and restored.

type pt = { x: f64, y: f64 }

type shape = #circle f64 | #nothing | #segment pt pt

type~ mixed = { flag: bool, half: f16, shape: shape, tag: u16, words: [][]i32 }

type sizes = { rows: i64, columns: i64 }

-- A payload in parts that the program believes to be of one length.
type dot = { a: f64, b: f64 }
type~ track = #lost | #seen ([]dot)

type item = { pts: [3]pt, weight: i32 }

entry point (x: f64) (y: f64) : pt = { x, y }

entry points [n] (xs: [n]f64) (ys: [n]f64) : [n]pt = map2 (\x y -> { x, y }) xs ys

entry circle (r: f64) : shape = #circle r

entry segment (p: pt) (q: pt) : shape = #segment p q

entry corners (s: shape) : i64 =
  match s
  case #circle _ -> 0
  case #nothing -> 1
  case #segment _ _ -> 2

entry shapes [n] (rs: [n]f64) : [n]shape = map (\r -> if r < 0 then #nothing else #circle r) rs

entry mixed [n] [m] (flag: bool) (half: f16) (tag: u16) (words: [n][m]i32) : mixed =
  { flag, half, shape = #circle 1, tag, words }

entry sum_of (m: mixed) : i32 = i32.sum (flatten m.words) + i32.u16 m.tag + i32.bool m.flag

entry sizes (rows: i64) (columns: i64) : sizes = { rows, columns }

entry area (s: sizes) : i64 = s.rows * s.columns

entry items (n: i64) : [n]item =
  tabulate n (\i -> { pts = replicate 3 { x = f64.i64 i, y = 0 }, weight = i32.i64 i })

entry weight [n] (items: [n]item) : i32 = i32.sum (map (.weight) items)

entry track [n] (xs: [n]f64) : track = #seen (map (\x -> { a = x, b = x }) xs)

type~ buffer = { data: []i32, tag: i32 }

-- Consumes a record and changes its array in place.
entry poke_buffer (b: *buffer) (v: i32) : *[]i32 = b.data with [0] = v
