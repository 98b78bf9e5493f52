-- Names of entry points, parameters and fields that differ only in primes, underscores, digits or
-- case remain distinct.

-- ==
-- entry: f
-- input { 1 } output { 10 }
entry f (x: i32) : i32 = x * 10

-- ==
-- entry: f'
-- input { 1 } output { 11 }
entry f' (x': i32) : i32 = x' * 11

-- ==
-- entry: f''
-- input { 1 1 } output { 24 }
entry f'' (x': i32) (x'': i32) : i32 = x' * 12 + x'' * 12

-- ==
-- entry: f_
-- input { 1 } output { 13 }
entry f_ (x_: i32) : i32 = x_ * 13

-- ==
-- entry: f_q
-- input { 1 } output { 14 }
entry f_q (x_q: i32) : i32 = x_q * 14

-- ==
-- entry: F
-- input { 1 } output { 16 }
entry F (X: i32) : i32 = X * 16

-- ==
-- entry: camelCase
-- input { 1 } output { 17 }
entry camelCase (parameterOne: i32) : i32 = parameterOne * 17

-- ==
-- entry: camel_case
-- input { 1 } output { 18 }
entry camel_case (parameter_one: i32) : i32 = parameter_one * 18

-- ==
-- entry: x1
-- input { 1 } output { 19 }
entry x1 (x_1: i32) : i32 = x_1 * 19
