-- Sorts by radix: a scan and a scatter for each bit move the whole array in place, for signed and
-- unsigned keys and, stably, for pairs.

def pass [n] 't (bit: t -> bool) (xs: [n]t) : [n]t =
  let ones = map (\x -> i64.bool (bit x)) xs
  let zeros = map (1 -) ones
  let before_ones = scan (+) 0 ones
  let before_zeros = scan (+) 0 zeros
  let count = if n == 0 then 0 else before_zeros[n - 1]
  let place o z p = if p == 1 then count + o - 1 else z - 1
  in scatter (copy xs) (map3 place before_ones before_zeros ones) xs

def sort_by [n] 't (key: t -> u32) (xs: [n]t) : [n]t =
  loop xs for b < 32 do pass (\x -> (key x >> u32.i32 b) & 1 == 1) xs

-- ==
-- entry: sort_unsigned
-- input { [3u32, 1u32, 4294967295u32, 2u32, 1u32] }
-- output { [1u32, 1u32, 2u32, 3u32, 4294967295u32] }
-- input { empty([0]u32) } output { empty([0]u32) }
entry sort_unsigned [n] (xs: [n]u32) : [n]u32 = sort_by id xs

-- ==
-- entry: sort_signed
-- input { [3, -1, 0, 2147483647, -2147483648, 2] }
-- output { [-2147483648, -1, 0, 2, 3, 2147483647] }
entry sort_signed [n] (xs: [n]i32) : [n]i32 =
  sort_by (\x -> u32.i32 x ^ 0x80000000) xs

-- ==
-- entry: sort_pairs
-- input { [2u32, 1u32, 2u32, 1u32] [10i32, 20i32, 30i32, 40i32] }
-- output { [1u32, 1u32, 2u32, 2u32] [20i32, 40i32, 10i32, 30i32] }
entry sort_pairs [n] (keys: [n]u32) (values: [n]i32) : ([n]u32, [n]i32) =
  unzip (sort_by (.0) (zip keys values))

-- ==
-- entry: is_sorted_after
-- random input { [300]u32 } output { true }
-- input { [5u32] } output { true }
entry is_sorted_after [n] (xs: [n]u32) : bool =
  let ys = sort_by id xs
  in all (\i -> ys[i - 1] <= ys[i]) (1..<n) && u32.sum xs == u32.sum ys

-- The differences of neighbours in n sorted numbers, each times its place.
-- ==
-- entry: sum_of_gaps
-- input { 0i64 } output { 0.0 }
-- input { 2i64 } output { 2654435761.0 }
-- input { 50i64 } output { 106704392193.0 }
entry sum_of_gaps (n: i64) : f64 =
  let ys = sort_by id (map (\i -> u32.i64 i * 2654435761) (iota n))
  let gap i = if i == 0 then 0 else ys[i] - ys[i - 1]
  in f64.u64 (u64.sum (map (\i -> u64.i64 i * u64.u32 (gap i)) (iota n)))
