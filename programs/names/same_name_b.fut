-- Two programs with an entry point and a type of the same name can run in one process: this
-- program and same_name_a.fut return their own results.

type value = {a: i32, b: i32}

-- ==
-- entry: answer
-- input { 1 } output { 3 }
entry answer (x: i32) : i32 = x + 2

entry make (a: i32) (b: i32) : value = {a = b, b = a}

entry weigh (v: value) : i32 = v.a + 10 * v.b

-- ==
-- entry: weighed
-- input { 1 2 } output { 12 }
entry weighed (a: i32) (b: i32) : i32 = weigh (make a b)
