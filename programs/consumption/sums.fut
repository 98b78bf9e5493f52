-- A sum shares memory with the arrays in its payload; consuming the sum does not change those
-- arrays, and consuming one of them does not change the sum.

type~ store = #none | #one ([]i32) | #two ([]i32) ([]i32)

module work = {
  def make (n: i32) (xs: []i32) : store =
    match n
    case 0 -> #none
    case 1 -> #one xs
    case _ -> #two xs xs

  def bump [n] (xs: *[n]i32) : *[n]i32 = loop xs for i < n do xs with [i] = xs[i] + 100

  def bump_store (s: store) : store =
    match s
    case #none -> #none
    case #one xs -> #one (bump (copy xs))
    case #two xs ys -> #two (bump (copy xs)) ys

  def total (s: store) : i32 =
    match s
    case #none -> 0
    case #one xs -> i32.sum xs
    case #two xs ys -> i32.sum xs + 1000 * i32.sum ys
}

-- Returns `#none` for 0, `#one` for 1, and otherwise `#two` with the same array twice.
entry make (n: i32) (xs: []i32) : store = work.make n xs

entry same (s: store) : store = s

entry first (s: store) : []i32 =
  match s
  case #none -> []
  case #one xs -> copy xs
  case #two xs _ -> copy xs

entry bump (xs: *[]i32) : *[]i32 = work.bump xs

entry bump_store (s: *store) : store = work.bump_store s

entry total (s: store) : i32 = work.total s

-- ==
-- entry: totals
-- input { [1, 2] } output { 3 3003 3203 0 }
-- input { empty([0]i32) } output { 0 0 0 0 }
entry totals (xs: []i32) : (i32, i32, i32, i32) =
  let s = work.make 2 xs
  let bumped = work.bump_store s
  in ( work.total (work.make 1 xs)
     , work.total s
     , work.total bumped
     , work.total (work.make 0 xs)
     )
