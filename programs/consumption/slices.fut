-- Results that share the memory of another array (slices, flattened arrays, rows) can be consumed
-- without changing that array, and vice versa.

entry first [n] (xs: [n]i64) (k: i64) : []i64 = xs[0:k]

entry rest [n] (xs: [n]i64) (k: i64) : []i64 = xs[k:n]

entry flat [n] [m] (xss: [n][m]i64) : []i64 = flatten xss

entry top (xss: [][]i64) : []i64 = xss[0]

entry halves [n] (xs: [n]i64) : ([]i64, []i64) = (take (n / 2) xs, drop (n / 2) xs)

entry fill [n] (xs: *[n]i64) (v: i64) : *[n]i64 = loop xs for i < n do xs with [i] = v

entry fill_matrix [n] [m] (xss: *[n][m]i64) (v: i64) : *[n][m]i64 =
  loop xss for i < n do xss with [i] = replicate m v

-- ==
-- entry: filled
-- input { [1i64, 2i64, 3i64] 2i64 } output { [1i64, 2i64, 3i64] [0i64, 0i64] [9i64] }
-- input { [1i64] 0i64 } output { [1i64] empty([0]i64) [9i64] }
-- input { [1i64] 2i64 } error: .*
-- input { [1i64] -1i64 } error: .*
entry filled (xs: []i64) (k: i64) : ([]i64, []i64, []i64) =
  (xs, fill (copy (first xs k)) 0, fill (copy (rest xs k)) 9)

-- ==
-- entry: parts
-- input { [[1i64, 2i64], [3i64, 4i64]] }
-- output { [1i64, 2i64, 3i64, 4i64] [1i64, 2i64] [1i64, 2i64] [3i64, 4i64] }
-- input { [[1i64]] } output { [1i64] [1i64] empty([0]i64) [1i64] }
-- input { empty([0][2]i64) } error: .*
entry parts (xss: [][]i64) : ([]i64, []i64, []i64, []i64) =
  let (a, b) = halves (flat xss)
  in (flat xss, top xss, a, b)
