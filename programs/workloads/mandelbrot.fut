-- Draws the Mandelbrot set: every pixel is computed from its position, in a loop of its own
-- length, and the result is a matrix or bytes.

type complex = {re: f64, im: f64}

type view = {centre: complex, width: f64}

type~ picture = {limit: i32, counts: [][]i32}

def add (a: complex) (b: complex) : complex = {re = a.re + b.re, im = a.im + b.im}

def square (a: complex) : complex =
  {re = a.re * a.re - a.im * a.im, im = 2 * a.re * a.im}

def norm2 (a: complex) : f64 = a.re * a.re + a.im * a.im

-- The number of steps after which the orbit of 0 leaves the circle of radius two,
-- or `limit` if it does not leave it before.
def escape (limit: i32) (c: complex) : i32 =
  let (_, steps) =
    loop (z, n) = (c, 0)
    while n < limit && norm2 z <= 4 do
      (add (square z) c, n + 1)
  in steps

-- The point in the middle of a pixel. Pixels are square; rows run downwards.
def point (v: view) (h: i64) (w: i64) (y: i64) (x: i64) : complex =
  let pixel = v.width / f64.i64 w
  in { re = v.centre.re + pixel * (f64.i64 x + 0.5 - f64.i64 w / 2)
     , im = v.centre.im - pixel * (f64.i64 y + 0.5 - f64.i64 h / 2)
     }

def escapes (v: view) (limit: i32) (h: i64) (w: i64) : [h][w]i32 =
  tabulate_2d h w (\y x -> escape limit (point v h w y x))

-- Black inside the set; outside, bands from blue over white to brown.
def colour (limit: i32) (n: i32) : [3]u8 =
  let t = f32.i32 n / f32.i32 limit
  let u = 1 - t
  let byte v = u8.f32 (f32.min 255 v)
  in if n >= limit
     then [0, 0, 0]
     else [ byte (9 * u * t * t * t * 255)
          , byte (15 * u * u * t * t * 255)
          , byte (8.5 * u * u * u * t * 255)
          ]

entry look_at (re: f64) (im: f64) (width: f64) : view = {centre = {re, im}, width}

entry render (v: view) (limit: i32) (h: i64) (w: i64) : picture =
  {limit, counts = escapes v limit h w}

entry colours (p: picture) : [][][3]u8 = map (map (colour p.limit)) p.counts

-- ==
-- entry: counts
-- input { -0.75f64 0f64 3.5f64 50 5i64 7i64 }
-- output { [[0, 0, 2, 2, 5, 3, 1],
--           [0, 2, 3, 5, 50, 50, 2],
--           [0, 50, 50, 50, 50, 50, 2],
--           [0, 2, 3, 5, 50, 50, 2],
--           [0, 0, 2, 2, 5, 3, 1]] }
-- input { 0f64 0f64 0.1f64 20 1i64 2i64 } output { [[20, 20]] }
-- input { 0f64 0f64 1f64 20 0i64 3i64 } output { empty([0][3]i32) }
-- input { f64.nan 0f64 1f64 20 1i64 1i64 } output { [[0]] }
entry counts (re: f64) (im: f64) (width: f64) (limit: i32) (h: i64) (w: i64) : [h][w]i32 =
  escapes {centre = {re, im}, width} limit h w

-- ==
-- entry: pixels
-- input { -0.75f64 0f64 3.5f64 10 2i64 2i64 }
-- output { [[[14u8, 97u8, 221u8], [88u8, 220u8, 187u8]],
--           [[14u8, 97u8, 221u8], [88u8, 220u8, 187u8]]] }
-- input { 0f64 0f64 1f64 20 2i64 0i64 } output { empty([2][0][3]u8) }
entry pixels (re: f64) (im: f64) (width: f64) (limit: i32) (h: i64) (w: i64) : [h][w][3]u8 =
  map (map (colour limit)) (escapes {centre = {re, im}, width} limit h w)

-- The fraction of the view that belongs to the set.
-- ==
-- entry: area
-- input { 24i64 64 } output { 1.625f64 }
-- input { 1i64 1 } output { 9f64 }
entry area (n: i64) (limit: i32) : f64 =
  let v = {centre = {re = -0.75, im = 0}, width = 3}
  let inside = map (map (\k -> i64.bool (k == limit))) (escapes v limit n n)
  in 9 * f64.i64 (i64.sum (map i64.sum inside)) / f64.i64 (n * n)
