-- The filter of Kuwahara: smooths areas and keeps edges, so that a picture looks painted.

type colour = (f32, f32, f32)

def add ((a, b, c): colour) ((x, y, z): colour) : colour = (a + x, b + y, c + z)
def scale (k: f32) ((a, b, c): colour) : colour = (k * a, k * b, k * c)

-- The mean colour and the variance of the brightness in a square whose corner is (i, j).
def square (r: i64) (at: i64 -> i64 -> colour) (i: i64) (j: i64) : (colour, f32) =
  let n = r + 1
  let (sum, bright, bright2) =
    loop (sum, bright, bright2) = ((0, 0, 0), 0, 0)
    for k < n * n do
      let c = at (i + k / n) (j + k % n)
      let l = 0.299 * c.0 + 0.587 * c.1 + 0.114 * c.2
      in (add sum c, bright + l, bright2 + l * l)
  let inverse = 1 / f32.i64 (n * n)
  let mean = bright * inverse
  in (scale inverse sum, bright2 * inverse - mean * mean)

-- | Replaces each pixel by the mean of the most uniform of four squares around it, which have `radius` + 1 pixels
-- per side.
entry paint [h] [w] (radius: i64) (image: [h][w][3]u8) : [h][w][3]u8 =
  let clamp (n: i64) (x: i64) = i64.max 0 (i64.min (n - 1) x)
  let at (i: i64) (j: i64) =
    let p = image[clamp h i, clamp w j]
    in (f32.u8 p[0], f32.u8 p[1], f32.u8 p[2])
  let byte (x: f32) = u8.f32 (x + 0.5)
  in tabulate_2d h w (\i j ->
       let choose (a: (colour, f32)) (b: (colour, f32)) = if b.1 < a.1 then b else a
       let square = square radius at
       let ((r, g, b), _) =
         square (i - radius) (j - radius)
         `choose` square (i - radius) j
         `choose` square i (j - radius)
         `choose` square i j
       in [byte r, byte g, byte b])
