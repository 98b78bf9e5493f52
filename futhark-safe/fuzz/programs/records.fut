-- Records that share arrays, also nested, and with sizes that must agree.

type~ pair = {left: []i64, right: []i64}

type~ nest = {at: i64, inner: pair}

type vec [n] = {xs: [n]i64, ys: [n]i64}

entry swap (p: *pair) : pair = {left = p.right, right = p.left}

entry poke ({left, right}: *pair) (x: i64) : pair = {left = left with [0] = x, right}

entry poke_nest ({at, inner = {left, right}}: *nest) (x: i64) : (*[]i64, []i64) =
  (left with [at] = x, right)

entry step [n] (v: *vec [n]) : vec [n] = {xs = map2 (+) v.xs v.ys, ys = v.ys}

entry divide (a: i64) (b: i64) : i64 = a / b
