-- Searches a graph breadth first: a loop that runs while there are nodes to visit, arrays that
-- grow and shrink between iterations, and a minimum by index.

-- The distance of each node from the start, or -1 if it cannot be reached. The edges are two
-- arrays, `from` and `to`.
def search [m] (n: i64) (from: [m]i64) (to: [m]i64) (start: i64) : [n]i32 =
  let far = i32.highest
  let (dist, _, _) =
    loop (dist, frontier, d) = (replicate n far with [start] = 0, true, 0)
    while frontier do
      let reached = map2 (\f t -> if dist[f] == d && dist[t] == far then t else -1) from to
      let next = reduce_by_index (copy dist) i32.min far reached (replicate m (d + 1))
      in (next, any (>= 0) reached, d + 1)
  in map (\d -> if d == far then -1 else d) dist

-- ==
-- entry: distances
-- input { 5i64 [0i64, 0i64, 1i64, 2i64] [1i64, 2i64, 3i64, 3i64] 0i64 }
-- output { [0i32, 1i32, 1i32, 2i32, -1i32] }
-- input { 3i64 [0i64, 1i64, 2i64] [1i64, 2i64, 0i64] 1i64 } output { [2, 0, 1] }
-- input { 2i64 empty([0]i64) empty([0]i64) 1i64 } output { [-1, 0] }
-- input { 2i64 [0i64] [1i64] 2i64 } error: out of bounds
-- input { 2i64 [0i64] [7i64] 0i64 } error: out of bounds
entry distances [m] (n: i64) (from: [m]i64) (to: [m]i64) (start: i64) : [n]i32 =
  search n from to start

-- The distances in a chain, where the frontier is one node in each of n rounds.
-- ==
-- entry: chain
-- input { 1i64 } output { 0 }
-- input { 12i64 } output { 66 }
entry chain (n: i64) : i32 =
  i32.sum (search n (0..<(n - 1) :> [n - 1]i64) (1..<n :> [n - 1]i64) 0)
