-- A loop that updates an array in place reuses the caller's array if it has no other owner;
-- otherwise the values of the other owners do not change, after any number of iterations.

-- ==
-- entry: prefix_sums
-- input { [1, 2, 3, 4] } output { [1, 3, 6, 10] }
-- input { [5] } output { [5] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry prefix_sums [n] (xs: *[n]i32) : *[n]i32 =
  loop xs for i < n - 1 do xs with [i + 1] = xs[i + 1] + xs[i]

-- ==
-- entry: before_and_after
-- input { [3, 1, 2] } output { [3, 1, 2] [1, 2, 3] }
entry before_and_after [n] (xs: [n]i32) : ([n]i32, [n]i32) =
  let swapped (a: *[n]i32) (i: i64): *[n]i32 =
    let x = copy a[i - 1]
    let y = copy a[i]
    in if x > y then (a with [i - 1] = y) with [i] = x else a
  let sorted =
    loop a = copy xs
    for _r < n do
      loop a for i < n - 1 do swapped a (i + 1)
  in (xs, sorted)
