-- Heat spreads on a plate that is divided into blocks of rows, one for each process.

-- | A block, and copies of its first and its last row, which its neighbours need.
type block [n] [m] = {cells: [n][m]f64, first: [m]f64, last: [m]f64}

def block [n] [m] (cells: [n][m]f64) : block [n] [m] =
  {cells, first = copy (head cells), last = copy (last cells)}

-- | The block of `n` rows from row `offset` of a plate of `total` rows: hot on a disc, else cold.
entry start (total: i64) (m: i64) (offset: i64) (n: i64) : block [n] [m] =
  let square (x: i64) = x * x
  let inside (i: i64) (j: i64) = square (2 * i - total) + square (2 * j - m) < square (total / 2)
  in block (tabulate_2d n m (\i j -> if inside (offset + i) j then 100 else 0))

-- | The next state of a block, between the row above it and the row below.
entry step [n] [m] (above: [m]f64) (b: block [n] [m]) (below: [m]f64) : block [n] [m] =
  let at (i: i64) (j: i64) =
    let j = i64.max 0 (i64.min (m - 1) j)
    in if i < 0 then above[j] else if i >= n then below[j] else b.cells[i, j]
  in block (tabulate_2d n m (\i j ->
       0.5 * at i j + 0.125 * (at (i - 1) j + at (i + 1) j + at i (j - 1) + at i (j + 1))))

-- | The highest temperature of the block.
entry hottest [n] [m] (b: block [n] [m]) : f64 = f64.maximum (flatten b.cells)
