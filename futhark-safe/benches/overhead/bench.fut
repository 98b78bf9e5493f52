-- Entry points that compute little, so that the overhead of calls dominates.

-- | One addition.
entry add (a: i32) (b: i32) : i32 = a + b

-- | About two nanoseconds per round, sequential.
entry spin (rounds: i32) (seed: u32) : u32 =
  loop x = seed for _i < rounds do (x ^ (x >> 7)) * 1664525 + 1013904223

-- | Gives the program an array type.
entry first (xs: []f32) : f32 = xs[0]

type pt = {x: f32, y: f32}

-- | Gives the program an array of records.
entry first_point (ps: []pt) : pt = ps[0]

-- | Overwrites one element of its argument.
entry touch (xs: *[]f32) : *[]f32 = xs with [0] = 1

-- | The same of records.
entry touch_point (ps: *[]pt) : *[]pt = ps with [0] = {x = 1, y = 2}

-- | Kernels on n integers or n by n of them: 0 dot product, 1 scan, 2 histogram, 3 matrix product, 4 blur.
-- Integers, because their overflow is checked.
entry kernel (which: i32) (n: i64) : i32 =
  let small (i: i64) = i32.i64 (i % 16)
  in match which
     case 0 -> let xs = tabulate n small in i32.sum (map2 (*) xs (reverse xs))
     case 1 -> i32.maximum (scan (+) 0 (tabulate n small))
     case 2 -> i32.maximum (reduce_by_index (replicate 256 0) (+) 0 (map (% 256) (iota n)) (replicate n 1))
     case 3 ->
       let xss = tabulate_2d n n (\i j -> small (i + j))
       in i32.maximum (flatten (map (\xs -> map (\ys -> i32.sum (map2 (*) xs ys)) (transpose xss)) xss))
     case _ ->
       let xss = tabulate_2d n n (\i j -> small (i * j))
       let at (i: i64) (j: i64) = xss[i64.max 0 (i64.min (n - 1) i), i64.max 0 (i64.min (n - 1) j)]
       in i32.maximum (flatten (tabulate_2d n n (\i j -> (at (i - 1) j + at (i + 1) j + at i (j - 1) + at i (j + 1)) / 4)))
