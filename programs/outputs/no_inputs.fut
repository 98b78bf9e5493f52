-- Entry points without parameters can be called repeatedly and return the same result each
-- time.

type config = {steps: i32, limits: [2]f64}

def table : [4]i32 = [10, 20, 30, 40]

-- ==
-- entry: answer
-- input { } output { 42 }
entry answer : i32 = 42

-- ==
-- entry: vector
-- input { } output { [10, 20, 30, 40] }
entry vector : [4]i32 = table

-- ==
-- entry: nothing
-- input { } output { empty([0]f64) }
entry nothing : []f64 = []

-- ==
-- entry: pair
-- input { } output { 100 [20, 40, 60, 80] }
entry pair : (i32, [4]i32) = (i32.sum table, map (* 2) table)

-- ==
-- entry: special
-- input { } output { f32.nan f32.inf -f32.inf }
entry special : (f32, f32, f32) = (f32.nan, f32.inf, -f32.inf)

entry default_config : config = {steps = 10, limits = [-1.5, 1.5]}

-- ==
-- entry: default_limits
-- input { } output { 10 [-1.5f64, 1.5f64] }
entry default_limits : (i32, [2]f64) = (default_config.steps, default_config.limits)
