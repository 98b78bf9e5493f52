-- Runs Conway's Game of Life on a torus: each step consumes a matrix of bool and returns one, and
-- each cell reads its neighbours across the edges.

def neighbours [h] [w] (cells: [h][w]bool) (y: i64) (x: i64) : i32 =
  let at dy dx = i32.bool cells[(y + dy) % h, (x + dx) % w]
  let above = at (-1) (-1) + at (-1) 0 + at (-1) 1
  let beside = at 0 (-1) + at 0 1
  let below = at 1 (-1) + at 1 0 + at 1 1
  in above + beside + below

def next [h] [w] (cells: [h][w]bool) : *[h][w]bool =
  let alive y x =
    let n = neighbours cells y x
    in n == 3 || (cells[y, x] && n == 2)
  in tabulate_2d h w alive

-- ==
-- entry: generations
-- input { [[false, false, false, false, false],
--          [false, false, true,  false, false],
--          [false, false, true,  false, false],
--          [false, false, true,  false, false],
--          [false, false, false, false, false]] 1i32 }
-- output { [[false, false, false, false, false],
--           [false, false, false, false, false],
--           [false, true,  true,  true,  false],
--           [false, false, false, false, false],
--           [false, false, false, false, false]] }
-- input { [[true, true], [true, true]] 1i32 } output { [[false, false], [false, false]] }
-- input { [[true, false]] 0i32 } output { [[true, false]] }
-- input { empty([0][3]bool) 0i32 } output { empty([0][3]bool) }
entry generations [h] [w] (cells: *[h][w]bool) (steps: i32) : *[h][w]bool =
  loop cells for _i < steps do next cells

-- A glider moves by one cell in both directions every four generations, so after 4 n steps on
-- a torus of n by n cells it is back at its start.
-- ==
-- entry: glider_returns
-- input { 6i64 } output { true 5i64 }
-- input { 8i64 } output { true 5i64 }
entry glider_returns (n: i64) : (bool, i64) =
  let glider y x = (y == 0 && x == 1) || (y == 1 && x == 2) || (y == 2 && x <= 2)
  let start = tabulate_2d n n glider
  let end = loop cells = start for _i < 4 * n do next cells
  let same = and (map and (map2 (map2 (==)) start end))
  in (same, i64.sum (map (\row -> i64.sum (map i64.bool row)) end))

-- ==
-- entry: draw
-- input { [[true, false], [false, true]] } output { [[35u8, 46u8], [46u8, 35u8]] }
-- input { empty([2][0]bool) } output { empty([2][0]u8) }
entry draw (cells: [][]bool) : [][]u8 = map (map (\c -> if c then '#' else '.')) cells
