-- Two programs with an entry point and a type of the same name can run in one process: this
-- program and same_name_b.fut return their own results.

type value = {a: i32, b: i32}

-- ==
-- entry: answer
-- input { 1 } output { 2 }
entry answer (x: i32) : i32 = x + 1

entry make (a: i32) (b: i32) : value = {a, b}

entry weigh (v: value) : i32 = v.a + 10 * v.b

-- ==
-- entry: weighed
-- input { 1 2 } output { 21 }
entry weighed (a: i32) (b: i32) : i32 = weigh (make a b)
