-- Derivatives of loops and of branches are correct in forward and in reverse mode: of a known and
-- of an unknown number of iterations, of arrays, and of the branch that is taken.

-- ==
-- entry: of_power
-- input { 2f64 3i32 } output { 12f64 12f64 }
-- input { 2f64 0i32 } output { 0f64 0f64 }
entry of_power (x: f64) (n: i32) : (f64, f64) =
  let f x = loop y = 1 for _i < n do y * x
  in (vjp f x 1, jvp f x 1)

-- ==
-- entry: of_constant_length
-- input { 2f64 } output { 80f64 80f64 }
entry of_constant_length (x: f64) : (f64, f64) =
  let f x = loop y = 1 for _i < 5i64 do y * x
  in (vjp f x 1, jvp f x 1)

-- ==
-- entry: of_elements
-- input { [2f64, 3f64, 4f64] } output { [12f64, 8f64, 6f64] [12f64, 20f64, 26f64] }
entry of_elements [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  let f xs = loop y = 1 for x in xs do y * x
  let unit i = tabulate n (\j -> f64.bool (j <= i))
  in (vjp f xs 1, tabulate n (\i -> jvp f xs (unit i)))

-- ==
-- entry: of_arrays
-- input { [1f64, 2f64] 2i64 } output { [4f64, 8f64] [4f64, 4f64] }
entry of_arrays [n] (xs: [n]f64) (steps: i64) : ([n]f64, [n]f64) =
  let double xs = loop xs for _i < steps do map (* 2) xs
  let f xs = f64.sum (map2 (*) (tabulate n (\i -> f64.i64 (i + 1))) (double xs))
  in (vjp f xs 1, jvp double xs (map (const 1) xs))

-- The value that the loop starts with has a second influence on the result.
-- ==
-- entry: of_start
-- input { 3f64 2i64 } output { 24f64 24f64 }
-- input { 3f64 0i64 } output { 6f64 6f64 }
entry of_start (x: f64) (steps: i64) : (f64, f64) =
  let f x = x * (loop y = x for _i < steps do 2 * y)
  in (vjp f x 1, jvp f x 1)

-- A loop whose number of iterations depends on data has a derivative in forward mode, and in
-- reverse mode with a bound.
-- ==
-- entry: of_while
-- input { 3f64 } output { 16f64 16f64 }
entry of_while (x: f64) : (f64, f64) =
  let f bounded x =
    if bounded
    then #[bound(8)] loop y = x while y < 40 do 2 * y
    else loop y = x while y < 40 do 2 * y
  in (vjp (f true) x 1, jvp (f false) x 1)

-- ==
-- entry: of_branches
-- input { [-1f64, 2f64, 0f64] } output { [3f64, 4f64, 0f64] [3f64, 4f64, 0f64] }
entry of_branches [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  let f x = if x < 0 then 3 * x else x * x
  in (vjp (\xs -> f64.sum (map f xs)) xs 1, map (\x -> jvp f x 1) xs)

-- ==
-- entry: of_choice
-- input { true [1f64, 2f64] } output { [2f64, 4f64] }
-- input { false [1f64, 2f64] } output { [2f64, 1f64] }
entry of_choice [n] (squared: bool) (xs: [n]f64) : [n]f64 =
  vjp (\xs -> if squared then f64.sum (map (\x -> x * x) xs) else f64.product xs) xs 1
