-- Multiplies a sparse matrix by a vector: irregular rows in compressed form become a segmented
-- sum, which an iteration uses to solve a linear system.

type~ csr = {rows: i64, starts: []i64, columns: []i64, values: []f64}

-- The sum of each row's products, computed from the prefix sums of all products.
def multiply [r] [z] [n] (starts: [r]i64) (columns: [z]i64) (values: [z]f64) (x: [n]f64) : []f64 =
  let rows = i64.max 0 (r - 1)
  let products = map2 (\c v -> v * x[c]) columns values
  let running = [0] ++ scan (+) 0 products
  in tabulate rows (\i -> running[starts[i + 1]] - running[starts[i]])

entry make [r] [z] (starts: [r]i64) (columns: [z]i64) (values: [z]f64) : csr =
  {rows = r - 1, starts, columns, values}

entry times [n] (a: csr) (x: [n]f64) : []f64 =
  let z = length a.columns
  in multiply a.starts (a.columns :> [z]i64) (a.values :> [z]f64) x

-- ==
-- entry: flat_times
-- input { [0i64, 2i64, 2i64, 3i64] [0i64, 2i64, 1i64] [1f64, 2f64, 3f64]
--         [10f64, 20f64, 30f64] }
-- output { [70f64, 0f64, 60f64] }
-- input { [0i64] empty([0]i64) empty([0]f64) [1f64] } output { empty([0]f64) }
-- input { [0i64, 1i64] [3i64] [1f64] [1f64] } error: out of bounds
-- input { [0i64, 2i64] [0i64] [1f64] [1f64] } error: out of bounds
-- input { [0i64, 1i64] [0i64] [1f64, 2f64] [1f64] } error: .*
-- input { [0i64, 1i64] [0i64] [f64.inf] [0f64] } output { [f64.nan] }
entry flat_times [r] [z] [n]
                 (starts: [r]i64)
                 (columns: [z]i64)
                 (values: [z]f64)
                 (x: [n]f64) : []f64 =
  multiply starts columns values x

-- The matrix of a chain has 2 on the diagonal and -1 next to it. Conjugate gradients find the
-- solution of n unknowns in at most n steps.
-- ==
-- entry: chain
-- input { 4i64 4i32 } output { [2f64, 3f64, 3f64, 2f64] }
-- input { 1i64 1i32 } output { [0.5f64] }
-- input { 0i64 0i32 } output { empty([0]f64) }
entry chain (n: i64) (steps: i32) : [n]f64 =
  let entries =
    filter (\(_, c, _) -> c >= 0 && c < n)
           (flatten (map (\i -> [(i, i - 1, -1), (i, i, 2), (i, i + 1, -1)]) (iota n)))
  let counts = hist (+) 0 n (map (.0) entries) (map (const 1) entries)
  let starts = [0] ++ scan (+) 0 counts
  let apply (x: [n]f64) = multiply starts (map (.1) entries) (map (.2) entries) x :> [n]f64
  let dot (a: [n]f64) (b: [n]f64) = f64.sum (map2 (*) a b)
  let b = replicate n 1f64
  let (x, _, _) =
    loop (x, r, p) = (replicate n 0, b, b)
    for _i < steps do
      let ap = apply p
      let rr = dot r r
      let k = if rr == 0 then 0 else rr / dot p ap
      let x' = map2 (\x p -> x + k * p) x p
      let r' = map2 (\r q -> r - k * q) r ap
      let g = if rr == 0 then 0 else dot r' r' / rr
      in (x', r', map2 (\r p -> r + g * p) r' p)
  in x
