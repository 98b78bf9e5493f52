-- Consuming a value does not change any other value of the caller, even if both share memory
-- because an entry point returned its input.

entry same (xs: []i32) : []i32 = xs

entry same_matrix (xss: [][]f64) : [][]f64 = xss

entry copied (xs: []i32) : []i32 = copy xs

entry fresh (xs: []i32) : *[]i32 = copy xs

entry increment (xs: *[]i32) : *[]i32 =
  loop xs for i < length xs do xs with [i] = xs[i] + 1

entry zero_first [n] (xs: *[n]i32) : [n]i32 =
  if n > 0 then xs with [0] = 0 else xs

entry clear_row (xss: *[][]f64) (i: i64) : *[][]f64 =
  xss with [i] = map (const 0) xss[i]

entry keep (xs: *[]i32) : *[]i32 = xs

-- ==
-- entry: kept
-- input { [1, 2, 3] } output { [1, 2, 3] [0, 2, 3] [2, 3, 4] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry kept (xs: []i32) : ([]i32, []i32, []i32) =
  (same xs, zero_first (fresh xs), increment (keep (copy xs)))

-- ==
-- entry: increment
-- input { [1, 2, 2147483647] } output { [2, 3, -2147483648] }
-- input { empty([0]i32) } output { empty([0]i32) }

-- ==
-- entry: clear_row
-- input { [[1f64, 2f64], [3f64, f64.nan]] 1i64 } output { [[1f64, 2f64], [0f64, 0f64]] }
-- input { [[1f64]] 1i64 } error: .*
-- input { empty([0][2]f64) 0i64 } error: .*
