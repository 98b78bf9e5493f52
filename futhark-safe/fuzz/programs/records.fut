-- Records that share arrays, also nested, and with sizes that must agree.

type~ pair = {left: []i64, right: []i64}

type~ nest = {array: []i64, at: i64, inner: pair}

type vec [n] = {xs: [n]i64, ys: [n]i64}

entry poke ({array, at, inner}: *nest) (x: i64) : nest = {array = array with [at] = x, at, inner}

entry divide [n] (v: vec [n]) : [n]i64 = map2 (/) v.xs v.ys
