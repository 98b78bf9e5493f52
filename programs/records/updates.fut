-- Updating a field of a record creates another record: the original, and all values projected from
-- it, do not change, at any depth.

type~ inner = {xs: []i32, k: i32}

type~ outer = {name: []u8, inner: inner}

entry inner (xs: []i32) (k: i32) : inner = {xs, k}

entry outer (name: []u8) (inner: inner) : outer = {name, inner}

entry with_k (o: outer) (k: i32) : outer = o with inner.k = k

entry with_first (o: outer) (x: i32) : outer =
  o with inner.xs = ([x] ++ drop 1 o.inner.xs)

-- ==
-- entry: look
-- script input { outer "a" (inner [1, 2] 3) } output { "a" [1, 2] 3 }
-- script input { with_k (outer "" (inner empty([0]i32) 3)) 4 } output { "" empty([0]i32) 4 }
-- script input { with_first (with_k (outer "b" (inner [1, 2] 3)) 5) 9 } output { "b" [9, 2] 5 }
entry look (o: outer) : ([]u8, []i32, i32) = (copy o.name, copy o.inner.xs, o.inner.k)

-- ==
-- entry: before_and_after
-- script input { outer "c" (inner [1, 2] 3) } output { 3 7 [1, 2] [7, 2] }
entry before_and_after (o: outer) : (i32, i32, []i32, []i32) =
  let p = with_first (with_k o 7) 7
  in (o.inner.k, p.inner.k, copy o.inner.xs, copy p.inner.xs)
