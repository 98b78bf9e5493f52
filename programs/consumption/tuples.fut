-- Parts of a tuple, columns of an array of records, and two results can be the same array;
-- consuming one of them does not change the other.

type~ twin = {a: []i64, b: []i64}

entry pair (xs: []i64) : ([]i64, []i64) = (xs, xs)

entry twin_of (xs: []i64) : twin = {a = xs, b = xs}

entry zipped [n] (xs: [n]i64) : [n](i64, i64) = zip xs xs

entry unzipped [n] (ps: [n](i64, i64)) : ([n]i64, [n]i64) = unzip ps

entry negate [n] (xs: *[n]i64) : *[n]i64 = loop xs for i < n do xs with [i] = -xs[i]

entry negate_firsts [n] (ps: *[n](i64, i64)) : *[n](i64, i64) =
  loop ps for i < n do ps with [i] = (-ps[i].0, ps[i].1)

-- Consumes both parameters, which therefore must not share memory.
entry negate_both [n] (xs: *[n]i64) (ys: *[n]i64) : ([n]i64, [n]i64) =
  (negate xs, map (+ 1) (negate ys))

-- Consumes one parameter while it reads the other.
entry add_to [n] (xs: *[n]i64) (ys: [n]i64) : *[n]i64 =
  loop xs for i < n do xs with [i] = xs[i] + ys[n - 1 - i]

-- ==
-- entry: added
-- input { [1i64, 2i64, 3i64] } output { [4i64, 4i64, 4i64] [1i64, 2i64, 3i64] }
-- input { empty([0]i64) } output { empty([0]i64) empty([0]i64) }
entry added (xs: []i64) : ([]i64, []i64) =
  let (a, b) = pair xs
  in (add_to (copy a) b, b)

-- ==
-- entry: negated
-- input { [1i64, -2i64] } output { [-1i64, 2i64] [1i64, -2i64] }
-- input { empty([0]i64) } output { empty([0]i64) empty([0]i64) }
entry negated (xs: []i64) : ([]i64, []i64) = unzipped (negate_firsts (copy (zipped xs)))

-- ==
-- entry: negate_both
-- input { [1i64, 2i64] [3i64, 4i64] } output { [-1i64, -2i64] [-2i64, -3i64] }
-- input { empty([0]i64) empty([0]i64) } output { empty([0]i64) empty([0]i64) }
-- input { [1i64] [3i64, 4i64] } error: .*

-- ==
-- entry: add_to
-- input { [1i64, 2i64] [10i64, 20i64] } output { [21i64, 12i64] }
-- input { empty([0]i64) empty([0]i64) } output { empty([0]i64) }
-- input { [1i64, 2i64] [10i64] } error: .*
