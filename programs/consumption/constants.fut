-- An entry point that returns a constant of the program returns the same values again after the
-- caller has consumed an earlier result.

type table = {keys: [3]i32, weights: [3]f64}

def numbers : [4]i64 = [10, 20, 30, 40]

def squares : [100]i64 = map (\i -> i * i) (iota 100)

def identity3 : [3][3]f32 = tabulate_2d 3 3 (\i j -> if i == j then 1 else 0)

def defaults : table = {keys = [1, 2, 3], weights = [0.5, 0.25, 0.25]}

-- ==
-- entry: get_numbers
-- input { } output { [10i64, 20i64, 30i64, 40i64] }
entry get_numbers : [4]i64 = numbers

-- ==
-- entry: get_squares_from
-- input { 97i64 } output { [9409i64, 9604i64, 9801i64] }
-- input { 100i64 } output { empty([0]i64) }
-- input { 101i64 } error: .*
entry get_squares_from (i: i64) : []i64 = copy squares[i:]

-- ==
-- entry: get_identity
-- input { }
-- output { [[1f32, 0f32, 0f32], [0f32, 1f32, 0f32], [0f32, 0f32, 1f32]] }
entry get_identity : [3][3]f32 = identity3

entry get_defaults : table = defaults

-- The compiler removes an explicit copy if the result need not be unique.
entry get_copy (_: i32) : [4]i64 = copy numbers

-- ==
-- entry: get_unique
-- input { 0 } output { [10i64, 20i64, 30i64, 40i64] }
entry get_unique (_: i32) : *[4]i64 = copy numbers

-- ==
-- entry: nth
-- input { 0i64 } output { 10i64 }
-- input { 3i64 } output { 40i64 }
-- input { 4i64 } error: .*
entry nth (i: i64) : i64 = numbers[i]

-- ==
-- entry: overwrite
-- input { [10i64, 20i64] 7i64 } output { [7i64, 7i64] }
-- input { empty([0]i64) 7i64 } output { empty([0]i64) }
entry overwrite [n] (xs: *[n]i64) (v: i64) : *[n]i64 =
  loop xs for i < n do xs with [i] = v

entry overwrite_matrix [n] [m] (xss: *[n][m]f32) : *[n][m]f32 =
  loop xss for i < n do xss with [i] = replicate m (-1)

entry overwrite_table (t: *table) : *table =
  t with keys = map (const 0) t.keys with weights = map (const 0) t.weights

-- ==
-- entry: checksum
-- input { } output { 100i64 328350i64 3f32 6i32 1f64 }
entry checksum : (i64, i64, f32, i32, f64) =
  ( i64.sum numbers
  , i64.sum squares
  , f32.sum (flatten identity3)
  , i32.sum defaults.keys
  , f64.sum defaults.weights
  )
