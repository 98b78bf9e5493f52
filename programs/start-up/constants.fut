-- Constants that need parallel or sequential work are computed once, when the context is created,
-- and every entry point reads their values.

def n : i64 = 500

def numbers : [n]i64 = map (\i -> (i * 7919) % 1009) (iota n)

def prefix : [n]i64 = scan (+) 0 numbers

def evens : []i64 = filter (\x -> x % 2 == 0) numbers

def greatest : i64 = i64.maximum numbers

def checked : i64 = assert (greatest < 1009) (greatest + 1)

def fib : [20]i32 =
  loop xs = replicate 20 1 for i < 18 do xs with [i + 2] = xs[i] + xs[i + 1]

-- ==
-- entry: scalars
-- input { } output { 500i64 1006i64 1007i64 250i64 }
entry scalars : (i64, i64, i64, i64) = (n, greatest, checked, length evens)

-- ==
-- entry: total
-- input { 0i64 } output { 0i64 }
-- input { 1i64 } output { 856i64 }
-- input { 499i64 } output { 251744i64 }
-- input { 500i64 } error: out of bounds
-- input { -1i64 } error: out of bounds
entry total (i: i64) : i64 = prefix[i]

-- ==
-- entry: fibonacci
-- input { }
-- output { [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584,
--           4181, 6765] }
entry fibonacci : [20]i32 = fib
