-- The game of Life by Conway, on a torus. Cells that died fade.

-- | A byte per cell: 255 if it is alive, otherwise how recently it was.
entry start (n: i64) (m: i64) : [n][m]u8 =
  -- An R-pentomino: five cells that need 1103 generations to settle.
  let (i0, j0) = (n / 2, m / 2)
  let world = replicate n (replicate m 0u8)
  let at (i, j) = (i0 + i, j0 + j)
  in scatter_2d world (map at [(-1, 0), (-1, 1), (0, -1), (0, 0), (1, 0)]) (replicate 5 255)

-- | The next generation.
entry step [n] [m] (world: *[n][m]u8) : *[n][m]u8 =
  let alive (i: i64) (j: i64) = i32.bool (world[(i + n) % n, (j + m) % m] == 255)
  in tabulate_2d n m (\i j ->
       let row (i: i64) = alive i (j - 1) + alive i j + alive i (j + 1)
       let sum = row (i - 1) + row i + row (i + 1)
       let here = world[i, j]
       in if sum == 3 || (sum == 4 && here == 255)
          then 255
          else u8.i32 (i32.u8 here * 7 / 8))

-- | Each cell as a square of `size` pixels: red, green, blue and opacity.
entry draw [n] [m] (size: i64) (world: [n][m]u8) : [n * size][m * size][4]u8 =
  let colour (x: u8) : [4]u8 =
    if x == 255 then [255, 244, 200, 255] else [x / 2, x / 8, 24 + x / 3, 255]
  in tabulate_2d (n * size) (m * size) (\i j -> colour world[i / size, j / size])
