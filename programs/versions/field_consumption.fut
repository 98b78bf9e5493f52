-- A function may consume a field of a consumed record, whose new value replaces it in an update.

type holder [n] = {id: i32, xs: [n]i32}

def bump [n] (xs: *[n]i32) : *[n]i32 = loop xs for i < n do xs with [i] = xs[i] + 100

entry hold (n: i64) : holder [n] = {id = i32.i64 n, xs = replicate n 7}

entry bump_xs [n] (h: *holder [n]) : *holder [n] = h with xs = bump h.xs

entry xs [n] (h: holder [n]) : [n]i32 = copy h.xs

-- ==
-- entry: bumped
-- input { 2i64 } output { [107, 107] }
-- input { 0i64 } output { empty([0]i32) }
entry bumped (n: i64) : [n]i32 = (bump_xs (hold n)).xs
