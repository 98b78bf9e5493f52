-- A function may consume a field of a consumed record, whose new value replaces it in an update.

type holder = {id: i32, xs: [4]i32}

def bump (xs: *[4]i32) : *[4]i32 = xs with [0] = xs[0] + 100

entry hold (id: i32) : holder = {id, xs = replicate 4 id}

entry bump_xs (h: *holder) : *holder = h with xs = bump h.xs

entry xs (h: holder) : [4]i32 = copy h.xs

-- ==
-- entry: bumped
-- input { 7 } output { [107, 7, 7, 7] }
entry bumped (id: i32) : [4]i32 = (bump_xs (hold id)).xs
