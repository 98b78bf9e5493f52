-- A function may consume a field of a consumed record through a variable, and then replace the field.

type~ holder = {scale: i32, xs: []i32}

module work = {
  def bump [n] (xs: *[n]i32) : *[n]i32 = loop xs for i < n do xs with [i] = xs[i] + 100
}

entry hold (xs: []i32) : holder = {scale = 1, xs}

entry bump_xs (h: *holder) : *holder =
  let xs = h.xs
  in h with xs = work.bump xs

-- ==
-- entry: bumped
-- input { [1, 2] } output { [101, 102] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry bumped (xs: []i32) : []i32 = (bump_xs (hold (copy xs))).xs
