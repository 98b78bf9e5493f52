-- A record shares memory with the arrays that it was created from and with those projected from
-- it; consuming one of them does not change the others.

type~ holder = {scale: i32, xs: []i32, ys: []i32}

-- These functions are not entry points, because the tested compilers fail on an entry point that
-- other entry points call with different hidden sizes.
module work = {
  def bump [n] (xs: *[n]i32) : *[n]i32 = loop xs for i < n do xs with [i] = xs[i] + 100

  def total (h: holder) : i32 = h.scale * (i32.sum h.xs + 10 * i32.sum h.ys)
}

entry hold (scale: i32) (xs: []i32) (ys: []i32) : holder = {scale, xs, ys}

-- Stores one array in two fields.
entry hold_twice (xs: []i32) : holder = {scale = 1, xs, ys = xs}

entry get_xs (h: holder) : []i32 = h.xs

entry get_both (h: holder) : ([]i32, []i32) = (h.xs, h.ys)

entry bump (xs: *[]i32) : *[]i32 = work.bump xs

-- Consumes the whole record, and writes into one of its two arrays. Newer compilers refuse to consume a field by its
-- name (see versions/field_consumption.fut and versions/field_hidden.fut).
entry bump_xs ({scale, xs, ys}: *holder) : *holder = {scale, xs = work.bump xs, ys}

-- Consumes only a part of its parameter; the manifest marks the whole parameter as consumed.
entry bump_left (p: (*[]i32, []i32)) : ([]i32, i32) =
  let (xs, ys) = p
  let total = i32.sum ys
  in (work.bump xs, total)

entry total (h: holder) : i32 = work.total h

-- ==
-- entry: totals
-- input { [1, 2, 3] } output { 66 366 [1, 2, 3] }
-- input { empty([0]i32) } output { 0 0 empty([0]i32) }
entry totals (xs: []i32) : (i32, i32, []i32) =
  let h: holder = {scale = 1, xs, ys = xs}
  let bumped: holder = {scale = 1, xs = work.bump (copy xs), ys = xs}
  in (work.total h, work.total bumped, h.xs)

-- ==
-- entry: left
-- input { [1, 2] [3, 4] } output { [101, 102] 7 }
-- input { empty([0]i32) [1] } output { empty([0]i32) 1 }
entry left (xs: *[]i32) (ys: []i32) : ([]i32, i32) = (work.bump xs, i32.sum ys)
