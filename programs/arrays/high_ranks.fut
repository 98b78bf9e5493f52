-- Arrays of rank 3 to 5 work for element types of every width, not only for i32; each of these
-- array types has its own generated C type.

-- ==
-- entry: bool3
-- input { [[[true, false]], [[false, true]]] } output { [[[false, true]], [[true, false]]] }
-- input { empty([1][0][2]bool) } output { empty([1][0][2]bool) }
entry bool3 (x: [][][]bool) : [][][]bool = map (map (map (\b -> !b))) x

-- ==
-- entry: u8_4
-- input { [[[[255u8, 0u8]]]] } output { [[[[0u8, 255u8]]]] }
entry u8_4 (x: [][][][]u8) : [][][][]u8 = map (map (map (map (255 -)))) x

-- ==
-- entry: u16_5
-- input { [[[[[65535u16]], [[1u16]]]]] } output { [[[[[0u16]], [[2u16]]]]] }
entry u16_5 (x: [][][][][]u16) : [][][][][]u16 = map (map (map (map (map (+ 1))))) x

-- ==
-- entry: f16_3
-- input { [[[1f16, f16.nan]], [[-2f16, f16.inf]]] }
-- output { [[[2f16, f16.nan]], [[-4f16, f16.inf]]] }
entry f16_3 (x: [][][]f16) : [][][]f16 = map (map (map (* 2))) x

-- ==
-- entry: f64_4
-- input { [[[[1f64], [2f64]]], [[[3f64], [4f64]]]] }
-- output { [[[[0.5f64], [1f64]]], [[[1.5f64], [2f64]]]] }
entry f64_4 (x: [][][][]f64) : [][][][]f64 = map (map (map (map (/ 2)))) x

-- ==
-- entry: i8_5
-- input { [[[[[1i8, -1i8], [2i8, -2i8]]]]] } output { [[[[[-1i8, 1i8], [-2i8, 2i8]]]]] }
-- input { empty([1][1][1][0][2]i8) } output { empty([1][1][1][0][2]i8) }
entry i8_5 (x: [][][][][]i8) : [][][][][]i8 = map (map (map (map (map i8.neg)))) x

-- ==
-- entry: i64_3
-- input { [[[1i64, 2i64], [3i64, 4i64]]] } output { [[10i64]] }
-- input { empty([2][1][0]i64) } output { [[0i64], [0i64]] }
entry i64_3 (x: [][][]i64) : [][]i64 = map (\m -> [i64.sum (flatten m)]) x
