-- A part of the edge of the Mandelbrot set, shaded like a relief.
--
-- For every point c the map z -> z*z + c is repeated until z has left a large circle.
-- The number of steps determines the colour. The derivative of z with respect to c determines
-- the distance to the set and the direction of the slope.

type colour = (f32, f32, f32)

def scale (k: f32) ((r, g, b): colour) : colour = (k * r, k * g, k * b)
def add ((r, g, b): colour) ((r', g', b'): colour) : colour = (r + r', g + g', b + b')
def mix (t: f32) (a: colour) (b: colour) : colour = add (scale (1 - t) a) (scale t b)

def clamp (x: f32) : f32 = f32.max 0 (f32.min 1 x)

-- The visible part of the plane: its centre and its height.
def centre : (f32, f32) = (-0.74660, 0.11485)
def extent : f32 = 0.0042

-- The radius of the circle. It is large, so that the colours change smoothly.
def radius : f32 = 200
def max_steps : i32 = 1000

-- Colours in linear light, cyclic.
def palette : [6]colour =
  [ (0.004, 0.012, 0.060)
  , (0.020, 0.110, 0.360)
  , (0.300, 0.640, 0.760)
  , (1.000, 0.900, 0.660)
  , (0.900, 0.370, 0.050)
  , (0.150, 0.022, 0.050)
  ]

def pick (t: f32) : colour =
  let x = 6 * (t - f32.floor t)
  let i = i32.f32 x % 6
  let t = x - f32.floor x
  -- Smooth at the ends, so that no edge is visible between two colours.
  in mix (t * t * (3 - 2 * t)) palette[i] palette[(i + 1) % 6]

-- The colour of one point. `pixel` is the width of a pixel.
def sample (pixel: f32) (cx: f32) (cy: f32) : colour =
  let (x, y, dx, dy, steps) =
    loop (x, y, dx, dy, steps) = (0, 0, 0, 0, 0i32)
    while x * x + y * y < radius * radius && steps < max_steps do
      ( x * x - y * y + cx
      , 2 * x * y + cy
      , 2 * (x * dx - y * dy) + 1
      , 2 * (x * dy + y * dx)
      , steps + 1
      )
  in if steps == max_steps
     then (0.002, 0.003, 0.010)
     else let size2 = x * x + y * y
          let slope2 = dx * dx + dy * dy
          let smooth = f32.i32 steps - f32.log2 (f32.log size2 / (2 * f32.log radius))
          -- Distance to the set, in pixels.
          let distance = 0.5 * f32.sqrt (size2 / slope2) * f32.log size2 / pixel
          -- The slope is z / dz; light comes from the upper left.
          let (ux, uy) = (x * dx + y * dy, y * dx - x * dy)
          let light = (0.7071 * (uy - ux) / f32.sqrt (size2 * slope2) + 1.4) / 2.4
          let shade = 0.25 + 0.95 * clamp light
          let ink = clamp (f32.sqrt (distance / 1.5))
          in scale (shade * (0.12 + 0.88 * ink)) (pick (0.42 * f32.log2 smooth + 0.1))

-- Converts linear light to an sRGB byte.
def encode (v: f32) : u8 =
  let v = clamp v
  let s = if v <= 0.0031308 then 12.92 * v else 1.055 * v ** (1 / 2.4) - 0.055
  in u8.f32 (255 * s + 0.5)

-- | The picture, as rows of red, green and blue. Each pixel is the mean of
-- `samples` times `samples` points.
entry render (height: i64) (width: i64) (samples: i64) : [height][width][3]u8 =
  let pixel = extent / f32.i64 height
  let part (i: i64) (j: i64) (n: i64) = f32.i64 i - 0.5 * f32.i64 n + (f32.i64 j + 0.5) / f32.i64 samples
  in tabulate_2d height width (\row column ->
       let sum =
         loop sum = (0, 0, 0)
         for k < samples * samples do
           let x = centre.0 + pixel * part column (k % samples) width
           let y = centre.1 - pixel * part row (k / samples) height
           in add sum (sample pixel x y)
       let (r, g, b) = scale (1 / f32.i64 (samples * samples)) sum
       in [encode r, encode g, encode b])
