-- Clusters points by k-means: a loop that ends when no point changes its cluster, a reduction by
-- index in every iteration, and a record of arrays as the result.

type~ clustering = {centres: [][2]f64, members: []i64, rounds: i32}

def distance2 (a: [2]f64) (b: [2]f64) : f64 =
  let dx = a[0] - b[0]
  let dy = a[1] - b[1]
  in dx * dx + dy * dy

def nearest [k] (centres: [k][2]f64) (p: [2]f64) : i64 =
  let closer (i, di) (j, dj) = if di < dj || (di == dj && i < j) then (i, di) else (j, dj)
  let (i, _) =
    reduce_comm closer (k, f64.inf) (zip (iota k) (map (distance2 p) centres))
  in i

def means [n] [k] (points: [n][2]f64) (members: [n]i64) (old: [k][2]f64) : [k][2]f64 =
  let counts = hist (+) 0 k members (replicate n 1i64)
  let xs = hist (+) 0 k members (map (\p -> p[0]) points)
  let ys = hist (+) 0 k members (map (\p -> p[1]) points)
  in map4 (\c x y o -> if c == 0 then o else [x / f64.i64 c, y / f64.i64 c])
          counts
          xs
          ys
          old

def lloyd [n] [k] (points: [n][2]f64) (start: [k][2]f64) (limit: i32) : ([k][2]f64, [n]i64, i32) =
  let first = map (nearest start) points
  let (centres, members, rounds, _) =
    loop (centres, members, rounds, moving) = (start, first, 0, true)
    while moving && rounds < limit do
      let centres = means points members centres
      let next = map (nearest centres) points
      in (centres, next, rounds + 1, or (map2 (!=) members next))
  in (centres, members, rounds)

entry cluster [n] [k] (points: [n][2]f64) (start: [k][2]f64) (limit: i32) : clustering =
  let (centres, members, rounds) = lloyd points start limit
  in {centres, members, rounds}

entry sizes_of (c: clustering) : []i64 =
  hist (+) 0 (length c.centres) c.members (map (const 1) c.members)

-- ==
-- entry: flat_cluster
-- input { [[0f64, 0f64], [0f64, 2f64], [10f64, 0f64], [10f64, 2f64]]
--         [[0f64, 0f64], [1f64, 0f64]] 20 }
-- output { [[0f64, 1f64], [10f64, 1f64]] [0i64, 0i64, 1i64, 1i64] 1 }
-- input { [[1f64, 1f64]] [[0f64, 0f64], [9f64, 9f64]] 20 }
-- output { [[1f64, 1f64], [9f64, 9f64]] [0i64] 1 }
-- input { [[1f64, 1f64]] [[0f64, 0f64]] 0 } output { [[0f64, 0f64]] [0i64] 0 }
-- input { empty([0][2]f64) [[3f64, 4f64]] 20 } output { [[3f64, 4f64]] empty([0]i64) 1 }
entry flat_cluster [n] [k]
                   (points: [n][2]f64)
                   (start: [k][2]f64)
                   (limit: i32) : ([k][2]f64, [n]i64, i32) =
  lloyd points start limit

-- Points around the corners of a square form one cluster per corner.
-- ==
-- entry: corners
-- input { 80i64 } output { [20i64, 20i64, 20i64, 20i64] }
-- input { 0i64 } output { [0i64, 0i64, 0i64, 0i64] }
entry corners (n: i64) : [4]i64 =
  let place i =
    let noise = f64.i64 ((i * 37) % 11) / 10
    in [f64.i64 (i % 2) * 10 + noise, f64.i64 ((i / 2) % 2) * 10 - noise]
  let start = [[1, 1], [9, 1], [1, 9], [9, 9]]
  let (_, members, _) = lloyd (map place (iota n)) start 30
  in hist (+) 0 4 members (replicate n 1)
