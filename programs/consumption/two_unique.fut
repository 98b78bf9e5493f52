-- Two results that are both declared unique share memory if the caller passes one value for both
-- parameters; each can be consumed without changing the other.

entry swap (xs: *[]i32) (ys: *[]i32) : (*[]i32, *[]i32) = (ys, xs)

entry split [n] (xs: *[n]i32) : (*[]i32, *[]i32) =
  (copy xs[:n / 2], copy xs[n / 2:])

entry both [n] (xs: [n]i32) : (*[n]i32, *[n]i32) = (copy xs, map (+ 1) xs)

-- The compiler infers that the result is unique, although the source does not declare it.
entry inferred (xs: []i32) : []i32 = map (* 2) xs

entry set_first [n] (xs: *[n]i32) (v: i32) : *[n]i32 =
  if n > 0 then xs with [0] = v else xs

-- ==
-- entry: swap
-- input { [1, 2] [3] } output { [3] [1, 2] }
-- input { empty([0]i32) [3] } output { [3] empty([0]i32) }

-- ==
-- entry: split
-- input { [1, 2, 3] } output { [1] [2, 3] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) }

-- ==
-- entry: both
-- input { [1, 2147483647] } output { [1, 2147483647] [2, -2147483648] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) }

-- ==
-- entry: set_firsts
-- input { [1, 2] } output { [7, 2] [8, 3] [2, 4] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry set_firsts [n] (xs: [n]i32) : ([n]i32, [n]i32, [n]i32) =
  let (a, b) = both xs
  in (set_first a 7, set_first b 8, inferred xs)
