-- Arrays in test blocks can be nested, span several lines, end with a comma, hold booleans, and be
-- empty with an explicit type.

-- ==
-- entry: total
-- input { [[1, 2, 3], [4, 5, 6]] } output { 21 }
-- input { [[1],
--          [2],
--          [3],
--         ] }
-- output { 6 }
-- input { empty([0][3]i32) } output { 0 }
-- input { empty([3][0]i32) } output { 0 }
entry total (xss: [][]i32) : i32 = i32.sum (flatten xss)

-- ==
-- entry: turned
-- input { [[[1i8, 2i8]], [[3i8, 4i8]]] } output { [[[1i8, 3i8], [2i8, 4i8]]] }
-- input { empty([2][0][1]i8) } output { empty([0][1][2]i8) }
entry turned [a] [b] [c] (xsss: [a][b][c]i8) : [b][c][a]i8 =
  map transpose (transpose xsss)

-- ==
-- entry: count
-- input { [true, false, true] } output { 2i64 }
-- input { [false] } output { 0i64 }
-- input { empty([0]bool) } output { 0i64 }
entry count (bs: []bool) : i64 = i64.sum (map i64.bool bs)

-- ==
-- entry: unsigned
-- input { [255u8, 0u8] [65535u16] [4294967295u32] [0u64] } output { 4295033085u64 }
entry unsigned (a: []u8) (b: []u16) (c: []u32) (d: []u64) : u64 =
  u64.sum (map u64.u8 a) + u64.sum (map u64.u16 b) + u64.sum (map u64.u32 c) + u64.sum d
