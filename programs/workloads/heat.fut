-- Simulates heat in a plate: a stencil that reads four neighbours in many steps, constant edges,
-- and one loop that consumes a matrix.

def step [h] [w] (k: f32) (xss: [h][w]f32) : [h][w]f32 =
  tabulate_2d h w (\i j ->
                     if i == 0 || j == 0 || i == h - 1 || j == w - 1
                     then xss[i, j]
                     else xss[i, j]
                          + k
                            * (xss[i - 1, j] + xss[i + 1, j] + xss[i, j - 1] + xss[i, j + 1]
                               - 4 * xss[i, j]))

-- ==
-- entry: simulate
-- input { 0i32 0.25f32 [[1f32, 2f32], [3f32, 4f32]] } output { [[1f32, 2f32], [3f32, 4f32]] }
-- input { 1i32 0.25f32 [[0f32, 4f32, 0f32], [8f32, 0f32, 0f32], [0f32, 0f32, 0f32]] }
-- output { [[0f32, 4f32, 0f32], [8f32, 3f32, 0f32], [0f32, 0f32, 0f32]] }
-- input { 50i32 0.25f32 [[1f32, 1f32, 1f32, 1f32],
--                        [1f32, 9f32, 0f32, 1f32],
--                        [1f32, 0f32, 5f32, 1f32],
--                        [1f32, 1f32, 1f32, 1f32]] }
-- output { [[1f32, 1f32, 1f32, 1f32],
--           [1f32, 1f32, 1f32, 1f32],
--           [1f32, 1f32, 1f32, 1f32],
--           [1f32, 1f32, 1f32, 1f32]] }
-- input { 3i32 0.25f32 empty([0][2]f32) } output { empty([0][2]f32) }
entry simulate [h] [w] (steps: i32) (k: f32) (xss: *[h][w]f32) : *[h][w]f32 =
  loop xss for _i < steps do step k xss

-- The heat in a plate of n by n cells after ten steps.
-- ==
-- entry: heat_after
-- input { 0i64 } output { 0.0 }
-- input { 2i64 } output { 7.0 }
-- input { 12i64 } output { 1034.0203005 }
entry heat_after (n: i64) : f64 =
  let start = tabulate_2d n n (\i j -> f32.i64 ((i * j + 3 * i) % 17))
  let end = loop xss = start for _i < 10i32 do step 0.2 xss
  in f64.sum (map f64.f32 (flatten end))
