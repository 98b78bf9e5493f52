-- Programs that try to access memory outside of their arrays. Each entry point is called with all combinations of
-- numbers that are small, negative, huge, or wrap to a small number when added or multiplied. Arrays of a size that is an
-- argument are opaque to the compiler, so that a huge one is an error instead of a loop.

def made (n: i64) : []i64 = opaque (replicate n 3)
def table (n: i64) (m: i64) : [][]i64 = opaque (replicate n (replicate m 5))
def unallocated (n: i64) : [n]() = replicate n ()
type~ pair = {a: []i64, b: [][]i64}
def total (xs: []i64) : i64 = i64.sum (reverse xs)

-- Sizes in types that are sums and differences.
entry split_sum (some: []i64) (n: i64) (m: i64) (_: i64) : i64 =
  let (a: [n]i64, b: [m]i64) = split (sized (n + m) some) in total a * 1000 + total b
entry split_second (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let (_: [n]i64, b: [m]i64) = split (sized (n + m) some) in rotate k b
entry split_first (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let (a: [n]i64, _: [m]i64) = split (sized (n + m) some) in rotate k a
entry sum_type (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (xs: [a + b]i64) (_: [a]()) (_: [b]()) : i64 = total xs[a:] + total xs[:b]
  in f (sized (n + m) some) (replicate n ()) (replicate m ()) + k
entry difference_type (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xs: [n - m]i64 = sized (n - m) some in total xs + total (take k xs)
entry product_plus (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xs: [n * m + k]i64 = sized (n * m + k) some
  let (a: [n * m]i64, b: [k]i64) = split xs in total (flatten (transpose (unflatten a))) + total b
entry product_minus (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  unflatten (sized ((n - k) * m) some)
entry unflatten_sum (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  unflatten (sized ((n + k) * m) some)
entry unflatten_power (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  unflatten (sized ((n * k) * (m * k)) some)
entry cube (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  total (flatten_3d (map transpose (unflatten_3d (sized (n * m * k) some))))
entry cube_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = (unflatten_3d (sized (n * m * k) some))[n - 1, m - 1, k - 1]
entry square_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = (unflatten (sized (n * m) some))[k, k]
entry square_row (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = (unflatten (sized (n * m) some))[k]
entry square_column (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = (unflatten (sized (n * m) some))[:, k]
entry nested_unflatten (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xss = unflatten (sized (n * m) some)
  in i64.sum (map (\xs -> i64.sum (map i64.sum (unflatten (sized (k * k) xs)))) xss)
entry sized_half (some: []i64) (n: i64) (m: i64) (_: i64) : i64 = total (sized (n / 2 + m / 2) some)
entry sized_shift (some: []i64) (n: i64) (m: i64) (_: i64) : i64 = total (sized ((n << 1) + m) some)

-- Slices of slices, with wrapping ends and strides.
entry s_slice (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = some[n:m:k]
entry s_slice_used (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total some[n:m:k]
entry s_slice_offset (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total some[n:n + m:k]
entry s_slice_slice (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = let ys = some[n:m] in total ys[k:]
entry s_slice_back (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = let ys = some[n:m:-1] in total ys[::k]
entry s_slice_strides (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = let ys = some[::n] in let zs = ys[::m] in total zs[::k]
entry s_slice_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = some[n:m][k]
entry s_slice_index_stride (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = some[n::m][k]
entry s_slice_index_unused_end (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = some[::n][m + k]
entry s_take_drop (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (take n (drop m (take k some)))
entry s_slice_2d (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (opaque (unflatten (some :> [4 * 6]i64)))[n:m, k:])
entry s_slice_2d_strides (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  total (flatten (opaque (unflatten (some :> [4 * 6]i64)))[::n, m::k])
entry s_slice_2d_transposed (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  transpose (opaque (unflatten (some :> [4 * 6]i64)))[n:m:k, ::-1]
entry s_slice_empty_row (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xss = (opaque (unflatten (some :> [4 * 6]i64)))[n:n, m:] in total (flatten xss) + length xss + k
entry s_slice_of_empty (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = let ys = some[n:n] in total ys[m:m] + total ys[k:]
entry s_index_wraps (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = some[n + m * k]
entry s_index_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = i64.sum (map (\i -> some[i * n + m]) (take 3 some)) + k
entry s_rotate (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (rotate n (rotate m (rotate k some)))
entry s_rotate_take (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (take n (rotate m some)) + k
entry s_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = i64.sum (map (\x -> total some[n + x:m + x:k]) (take 3 some))
entry s_rows_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\xs -> total (xs : []i64)[n:m:k]) (unflatten (some :> [4 * 6]i64)))
entry s_unequal_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> total some[x * n:x * m + k]) (take 4 some))

-- Updates in place.
entry s_update (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy some with [n:m:k] = map (+ 1) some[n:m:k]
entry s_update_values (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy some with [n:m] = copy some[k:]
entry s_update_shifted (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy some with [n:n + m] = copy some[k:k + m]
entry s_update_2d (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  let xss = opaque (unflatten (some :> [4 * 6]i64)) in copy xss with [n:, m:] = copy xss[k:, m:]
entry s_update_column (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  let xss = opaque (unflatten (some :> [4 * 6]i64)) in copy xss with [:, n] = some[m:k]
entry s_update_element (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy some with [n + m] = k
entry s_update_loop (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  loop xs = copy some for i < 5i64 do xs with [n + i * m] = k
entry s_update_slices (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  loop xs = copy some for i < 3i64 do xs with [n + i:m + i:k] = some[n:m:k]
entry update_made (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy (made n) with [m:k] = made (k - m)
entry update_replicated (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = copy some with [n:m] = replicate k 7
entry s_swap (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let a = copy some[n:m] let b = copy some[k:k + (m - n)]
  in (copy some with [n:m] = b) with [k:k + (m - n)] = a

-- Scatter and histograms.
entry s_scatter (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = scatter (copy some) [n, m, n + m, n * m] [k, k, k, k]
entry scatter_made (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = scatter (copy (made n)) [m, k, m + k] [1, 2, 3]
entry scatter_lengths (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let is = made n in scatter (copy some) is (sized n (made m) :> [n]i64) |> map (+ k)
entry s_scatter_2d (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  scatter_2d (copy (opaque (unflatten (some :> [4 * 6]i64)))) [(n, m), (m, k), (k, n)] [7, 8, 9]
entry scatter_2d_made (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 = scatter_2d (copy (table n m)) [(k, 0), (0, k), (k, k)] [7, 8, 9]
entry scatter_rows (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  scatter (copy (table n m)) [k, 0] [replicate m 1, replicate m 2]
entry scatter_3d_made (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  total (flatten_3d (scatter_3d (copy (opaque (replicate n (replicate m (replicate k 0))))) [(n - 1, m - 1, k - 1), (n, 0, 0), (0, m, 0)] [7, 8, 9]))
entry histogram (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = hist (+) 0 n (map (\x -> x * m + k) some) some
entry histogram_made (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = reduce_by_index (copy (made n)) i64.max 0 [m, k, m * k] [1, 2, 3]
entry histogram_2d (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  reduce_by_index_2d (copy (table n m)) (+) 0 [(k, k), (n - 1, m - 1)] [1, 2]
entry histogram_rows (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  reduce_by_index (copy (table n m)) (map2 (+)) (replicate m 0) [k, n - 1] [replicate m 1, replicate m 2]
entry histogram_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 =
  map (\x -> hist (+) 0 n [x + m, x * k] [x, x]) some

-- Nests.
entry rows_sum (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (opaque (map i64.sum (table n m))) + k
entry columns_sum (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (opaque (map i64.sum (transpose (table n m)))) + k
entry flat_sum (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (table n m)) + k
entry flat_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = (flatten (table n m))[k]
entry flat_scan (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (scan (+) k (flatten (table n m)))
entry rows_scan (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (map (scan (+) 0) (table n m))) + k
entry column_scan (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (transpose (map (scan (+) 0) (transpose (table n m))))) + k
entry vector_sum (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (reduce (map2 (+)) (replicate m k) (table n m))
entry vector_scan (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (scan (map2 (+)) (replicate m k) (table n m)))
entry rotated_rows (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (rotate k (map (rotate k) (table n m))))
entry corner (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (table n m)[k:, :k])
entry stencil (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xss = table n m in i64.sum (tabulate (i64.min 5 n) (\i -> i64.sum (tabulate (i64.min 5 m) (\j -> xss[i + k, j - k]))))
entry irregular (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = i64.sum (map (\x -> total (made (x * n + m))) (take 3 some)) + k
entry irregular_rows (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> i64.sum (map (\y -> total (made (y * n + k))) (made (x + m)))) (take 2 some))
entry inner_table (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> total (flatten (transpose (opaque (replicate n (replicate m (x + k))))))) (take 3 some))
entry inner_update (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> total (copy (made n) with [m:k] = replicate (k - m) x)) (take 3 some))
entry inner_concat (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> total (made (n - x) ++ made (m + x) ++ made k)) (take 3 some))
entry inner_flat_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> (flatten (opaque (replicate n (replicate m x))))[k]) (take 3 some))
entry inner_scatter (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  i64.sum (map (\x -> total (scatter (opaque (replicate n x)) [m, k, m * k] [1, 2, 3])) (take 3 some))

-- Arrays that grow or change their length in loops and branches.
entry loop_append (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (loop xs = some for _i < 3i64 do xs ++ made n ++ take m xs) + k
entry loop_double (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (loop xs = made n for _i < 3i64 do flatten (opaque (replicate m xs))) + k
entry loop_drop (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (loop xs = some for _i < 3i64 do xs[n:length xs - m:k])
entry loop_transpose (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  total (flatten (loop xss = table n m for _i < 3i64 do transpose xss)) + k
entry branch_length (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (if n < m then made (n * k) else some[m:n])
entry branch_table (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten (if k > 3 then table n m else table m n))
entry branch_type (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (if k == 0 then sized (n * m) some else sized (n + m) some)
entry concat_three (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = made n ++ made m ++ made k
entry concat_last (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = made (n - 1) ++ [m] ++ made (k + 1)
entry concat_rows (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 = table n k ++ table m k
entry concat_columns (some: []i64) (n: i64) (m: i64) (k: i64) : [][]i64 = map2 (++) (table n m) (table n k)
entry concat_slices (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 = some[n:m] ++ some[m:k] ++ some[k:n:-1]
entry tiled (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (flatten_3d (opaque (replicate n (replicate m some)))) + k

-- Records, tuples and unit arrays, whose lengths become sizes.
entry pair_of (some: []i64) (n: i64) (m: i64) (k: i64) : pair = {a = made n, b = table m k}
entry pair_used (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let p: pair = opaque {a = made n, b = table m k} in total p.a + total (flatten (transpose p.b)) + p.a[length p.b]
entry units (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let us = opaque (replicate n ()) let vs = opaque (replicate m ()) in total (made (length us * length vs)) + k
entry zipped (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let (xs, ys) = unzip (zip (sized k (made n)) (sized k (made m))) in total xs + total ys
entry range_step (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = i64.sum (map (\i -> some[i]) (opaque (n..m..<k)))
entry range_down (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = i64.sum (map (\i -> some[i]) (opaque (n..m..>k)))
entry range_below (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total some + total (opaque (n + 2..n + 3..>m + k))
entry range_down_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = (opaque (n..n - 1..>m + k))[length (opaque (n..n + 1..>m)) - 1]
entry range_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = (opaque (n..m...k))[length (opaque (n..m...k)) - 1]
entry narrow_sizes (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  total (made (i64.i8 (i8.i64 n * i8.i64 m))) + total (made (i64.i16 (i16.i64 k - i16.i64 n)))
entry quotients (some: []i64) (n: i64) (m: i64) (k: i64) : i64 = total (made (n / m)) + total (made (n %% k)) + total some[n // m:]
entry filters (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let xs = filter (> k) (made n) let (a, b) = partition (> m) some in total xs + total a + total b + total (take k a)

-- Indices and starts of slices that are sizes. The compilers take a size for a number that is not negative, and leave out
-- the comparison with 0; but a size is any number if no array of it is allocated.
entry s_size_index (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = some[a] + some[b] in f (unallocated n) (unallocated m) + k
entry s_size_index_2d (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = (opaque (unflatten (some :> [4 * 6]i64)))[a, b] in f (unallocated n) (unallocated m) + k
entry s_size_row (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = copy (opaque (unflatten (some :> [4 * 6]i64)))[a, b:] in map (+ k) (f (unallocated n) (unallocated m))
entry s_size_slice (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = total some[a:b] + total some[b:] in f (unallocated n) (unallocated m) + k
entry s_size_stride (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = total some[a:k:b] in f (unallocated n) (unallocated m)
entry s_size_backwards (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = total some[a:b:-1] + total some[k:a:-1] in f (unallocated n) (unallocated m)
entry s_size_window (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = total some[a:a + 3] + total some[b - 2:b] + total some[a + k:] in f (unallocated n) (unallocated m)
entry s_size_write (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] (_: [a]()) = copy some with [a] = k in let g [b] (_: [b]()) (xs: *[]i64) = xs with [b] = k in g (unallocated m) (f (unallocated n))
entry s_size_update (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = copy some with [a:a + 3] = replicate 3 (b + k) in f (unallocated n) (unallocated m)
entry s_size_in_map (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = i64.sum (map (\x -> x * some[a] + total some[b:x]) some) in f (unallocated n) (unallocated m) + k
entry s_size_in_loop (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = loop xs = copy some for i < opaque 3i64 do xs with [a] = some[b] + i + k in f (unallocated n) (unallocated m)
entry s_size_scatter (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = scatter (copy some) [a, b, a + b] [k, k, k] in f (unallocated n) (unallocated m)
entry s_size_histogram (some: []i64) (n: i64) (m: i64) (k: i64) : []i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = reduce_by_index (copy some) (+) 0 [a, b] [k, k] in f (unallocated n) (unallocated m)
entry s_size_removed (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] (xs: [a]i64) = some[a] + length xs in f (replicate n m) + k
entry s_size_of_slice (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] (xs: [a]i64) = some[a] + total some[a:] + length xs in f some[n:m:k]
entry s_size_compared (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = if a >= 0 && k < 24 then some[k + a - a] else b in f (unallocated n) (unallocated m)
entry s_size_minimum (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = some[i64.min a 23] + some[i64.max b k] in f (unallocated n) (unallocated m)
entry s_size_loop_bound (some: []i64) (n: i64) (m: i64) (k: i64) : i64 =
  let f [a] [b] (_: [a]()) (_: [b]()) = loop s = 0 for i < opaque 3i64 do s + some[a + i] + some[b - i] in f (unallocated n) (unallocated m) + k
