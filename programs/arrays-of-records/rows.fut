-- A row of a matrix of records is a vector of records, and vectors can be joined to a matrix: one
-- record type works as a single value and as arrays of both ranks.

type pixel = {r: u8, g: u8, b: u8}

entry gradient (h: i64) (w: i64) : [h][w]pixel =
  tabulate_2d h w (\y x -> {r = u8.i64 x, g = u8.i64 y, b = 255})

entry row (image: [][]pixel) (y: i64) : []pixel = image[y]

entry at (line: []pixel) (x: i64) : pixel = line[x]

entry twice [w] (line: [w]pixel) : [2][w]pixel = [line, line]

-- ==
-- entry: greens
-- input { 3i64 2i64 1i64 } output { [1u8, 1u8] [[1u8, 1u8], [1u8, 1u8]] }
-- input { 3i64 0i64 1i64 } output { empty([0]u8) empty([2][0]u8) }
-- input { 3i64 2i64 3i64 } error: out of bounds
entry greens (h: i64) (w: i64) (y: i64) : ([w]u8, [2][w]u8) =
  let line = row (gradient h w) y :> [w]pixel
  in (map (.g) line, map (map (.g)) (twice line))

-- ==
-- entry: red_at
-- input { 2i64 3i64 1i64 2i64 } output { 2u8 }
-- input { 2i64 3i64 1i64 3i64 } error: out of bounds
entry red_at (h: i64) (w: i64) (y: i64) (x: i64) : u8 = (at (row (gradient h w) y) x).r
