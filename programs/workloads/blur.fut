-- Smooths a picture: bytes as input and output, three colours in the innermost dimension, sums in
-- a wider type, and a picture as an opaque value that is passed from step to step.

type~ picture = {width: i64, height: i64, pixels: [][][3]u8}

def at [h] [w] (p: [h][w][3]u8) (i: i64) (j: i64) (c: i64) : i32 =
  i32.u8 p[i64.max 0 (i64.min (h - 1) i), i64.max 0 (i64.min (w - 1) j), c]

-- Each value becomes the mean of nine; at the edges, the outermost values count several times.
def smooth [h] [w] (p: [h][w][3]u8) : [h][w][3]u8 =
  let mean i j c =
    let around = map (\k -> at p (i + k / 3 - 1) (j + k % 3 - 1) c) (iota 9)
    in u8.i32 (i32.sum around / 9)
  in tabulate_3d h w 3 mean

-- ==
-- entry: smoothed
-- input { [[[9u8, 0u8, 255u8]]] } output { [[[9u8, 0u8, 255u8]]] }
-- input { [[[0u8, 0u8, 0u8], [90u8, 9u8, 0u8], [0u8, 0u8, 255u8]]] }
-- output { [[[30u8, 3u8, 0u8], [30u8, 3u8, 85u8], [30u8, 3u8, 170u8]]] }
-- input { empty([0][2][3]u8) } output { empty([0][2][3]u8) }
entry smoothed [h] [w] (p: [h][w][3]u8) : [h][w][3]u8 = smooth p

entry load [h] [w] (pixels: [h][w][3]u8) : picture = {width = w, height = h, pixels}

entry blur (p: picture) : picture =
  p with pixels = smooth p.pixels

-- ==
-- entry: size_and_sum
-- script input { load [[[9u8, 0u8, 255u8], [9u8, 0u8, 255u8]]] } output { 2i64 1i64 528i64 }
-- script input { blur (blur (load [[[9u8, 0u8, 255u8]]])) } output { 1i64 1i64 264i64 }
entry size_and_sum (p: picture) : (i64, i64, i64) =
  (p.width, p.height, i64.sum (map i64.u8 (flatten_3d p.pixels)))

-- The sum of a picture of n by n pixels that was smoothed four times.
-- ==
-- entry: sum_of_smoothed
-- input { 0i64 } output { 0.0 }
-- input { 1i64 } output { 150.0 }
-- input { 9i64 } output { 24009.0 }
entry sum_of_smoothed (n: i64) : f64 =
  let start = tabulate_3d n n 3 (\i j c -> u8.i64 ((i * i + 7 * j + 50 * c) % 256))
  let end = loop p = start for _i < 4i32 do smooth p
  in f64.i64 (i64.sum (map i64.u8 (flatten_3d end)))
