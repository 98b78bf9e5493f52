-- Script input: the arguments are the results of entry points, so that opaque values can be
-- given to an entry point in a test block.

type point = {x: i32, y: i32}

type shape = #circle i32 | #box i32 i32

entry point (x: i32) (y: i32) : point = {x, y}

entry circle (r: i32) : shape = #circle r

entry box (a: i32) (b: i32) : shape = #box a b

entry origin : point = {x = 0, y = 0}

entry both (x: i32) : (i32, i32) = (x, x + 1)

entry twice (x: i32) : i32 = 2 * x

entry cleared (xs: *[]i32) : *[]i32 = xs with [0] = 0

-- ==
-- entry: sum
-- script input { point 1 2 } output { 3 }
-- script input { point (twice 4) (twice (twice -1)) } output { 4 }
-- "a constant" script input { origin } output { 0 }
entry sum (p: point) : i32 = p.x + p.y

-- ==
-- entry: area
-- script input { box 3 4i32 } output { 12 }
-- script input { circle 0x2 } output { 12 }
entry area (s: shape) : i32 =
  match s
  case #circle r -> 3 * r * r
  case #box a b -> a * b

-- ==
-- entry: add
-- script input { both 3 } output { 7 }
-- script input { (twice 3, 1) } output { 7 }
-- script input { (1, 2) } output { 3 }
-- script input { (twice 2147483647, 2) } output { 0 }
entry add (a: i32) (b: i32) : i32 = a + b

-- ==
-- entry: size
-- script input { cleared [1, 2, 3] } output { 3i64 0 }
-- script input { $loaddata "three.in" } output { 3i64 5 }
-- script input @ size_script.in output { 2i64 0 }
entry size [n] (xs: [n]i32) : (i64, i32) = (n, xs[0])

-- ==
-- entry: bytes
-- script input { "abc" } output { 3i64 }
-- script input { $loadbytes "three.in" } output { 10i64 }
entry bytes (s: []u8) : i64 = length s
