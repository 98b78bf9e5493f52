-- Arrays of records of rank 1, with arrays in them.

type pt = {x: f64, y: f64}

type near = {weight: f32, by: [2]i32}

entry line (n: i64) : [n]pt = map (\i -> {x = f64.i64 i, y = f64.i64 (-i)}) (iota n)

entry total (ps: []pt) : f64 = f64.sum (map (\p -> p.x + 10 * p.y) ps)

entry nears (ws: []f32) : []near = map (\w -> {weight = w, by = [1, 2]}) ws
