-- A sum shares memory with the arrays in its payload: consuming the sum, or an
-- array that was taken out of it, leaves the other alone.

type~ store = #none | #one ([]i32) | #two ([]i32) ([]i32)

entry make (n: i32) (xs: []i32): store =
  match n
  case 0 -> #none
  case 1 -> #one xs
  case _ -> #two xs xs

entry bump [n] (xs: *[n]i32): *[n]i32 = loop xs for i < n do xs with [i] = xs[i] + 100

entry bump_store (s: *store): *store =
  match s
  case #none -> #none
  case #one xs -> #one (bump (copy xs))
  case #two xs ys -> #two (bump (copy xs)) (copy ys)

def first_of (s: store): []i32 =
  match s
  case #none -> copy []
  case #one xs -> copy xs
  case #two xs _ -> copy xs

entry take_first (s: store): []i32 = first_of s

entry total (s: store): i32 =
  match s
  case #none -> 0
  case #one xs -> i32.sum xs
  case #two xs ys -> i32.sum xs + 1000 * i32.sum ys

-- ==
-- entry: totals
-- input { [1, 2] } output { 103 3003 3203 0 [101, 2] }
-- input { empty([0]i32) } output { 0 0 0 0 empty([0]i32) }
entry totals (xs: []i32): (i32, i32, i32, i32, []i32) =
  let first = first_of (make 1 xs)
  let changed = if length first > 0 then copy first with [0] = first[0] + 100 else first
  in ( i32.sum changed
     , total (make 2 xs)
     , total (bump_store (make 2 (copy xs)))
     , total (bump_store (make 0 (copy xs)))
     , changed
     )
