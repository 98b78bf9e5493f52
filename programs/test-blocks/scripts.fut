-- Script inputs are results of entry points, so that a test block can pass opaque values to an
-- entry point. Scripts have local names, tuples and records, which are converted when an entry
-- point is applied to them.

type point = {x: i32, y: i32}

type shape = #circle i32 | #box i32 i32

entry point (x: i32) (y: i32) : point = {x, y}

entry circle (r: i32) : shape = #circle r

entry box (a: i32) (b: i32) : shape = #box a b

type~ data = (i64, []f32)

type~ job = {at: point, load: (i32, data)}

entry data (n: i64) : data = (n, map f32.i64 (iota n))

entry origin : point = {x = 0, y = 0}

entry both (x: i32) : (i32, i32) = (x, x + 1)

entry twice (x: i32) : i32 = 2 * x

entry cleared (xs: *[]i32) : *[]i32 = xs with [0] = 0

-- ==
-- entry: sum
-- script input { point 1 2 } output { 3 }
-- script input { point (twice 4) (twice (twice -1)) } output { 4 }
-- "a constant" script input { origin } output { 0 }
-- script input { let p = point 1 2 in p } output { 3 }
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
-- script input { let (a, b) = both 3 in (b, a) } output { 7 }
-- script input { let x = 1 in let x = twice x in (x, add x x) } output { 6 }
-- script input { (add (both 3), sum {y = 1, x = twice 2}) } output { 12 }
-- script input { let add' = add 1 in (let (a, b,) = (3, 4,) in b, 1) } output { 5 }
-- script input { let twice = 5 in (twice, 1) } output { 6 }
-- script input { both 4 } auto output
entry add (a: i32) (b: i32) : i32 = a + b

-- ==
-- entry: size
-- script input { cleared [1, 2, 3] } output { 3i64 0 }
-- script input { $loaddata "three.in" } output { 3i64 5 }
-- script input @ size_script.in output { 2i64 0 }
-- script input { let f = "three.in" in $loaddata f } output { 3i64 5 }
entry size [n] (xs: [n]i32) : (i64, i32) = (n, xs[0])

-- ==
-- entry: bytes
-- script input { "abc" } output { 3i64 }
-- script input { $loadbytes "three.in" } output { 10i64 }
entry bytes (s: []u8) : i64 = length s

-- ==
-- entry: weight
-- script input { data 3i64 } output { 6f32 }
-- script input { let d = data 3 in d } output { 6f32 }
entry weight ((n, xs): data) : f32 = f32.i64 n + f32.sum xs

-- ==
-- entry: same
-- script input { weight (3, [1, 2]) } output { 6f32 }
-- script input { weight ($loaddata "weight.in") } output { 6f32 }
-- script input { let d = data 3 in weight d } output { 6f32 }
-- script input { work {at = {x = 1, y = 2}, load = (3, (1i64, [0.5f32, 0.5f32]))} } output { 8f32 }
-- script input { let d = data 2 in work {load = (3, d), at = origin} } output { 6f32 }
entry same (x: f32) : f32 = x

entry work (j: job) : f32 = f32.i32 (sum j.at + j.load.0) + weight j.load.1
