-- A matrix of each of the twelve element types keeps its shape and the order of its elements, even
-- if the program returns a transposed view.

-- ==
-- entry: transpose_i8
-- input { [[1i8, 2i8, 3i8], [4i8, 5i8, 6i8]] }
-- output { [[1i8, 4i8], [2i8, 5i8], [3i8, 6i8]] }
-- input { empty([0][3]i8) } output { empty([3][0]i8) }
entry transpose_i8 (xss: [][]i8) : [][]i8 = transpose xss

-- ==
-- entry: transpose_i16
-- input { [[1i16, 2i16, 3i16], [4i16, 5i16, 6i16]] }
-- output { [[1i16, 4i16], [2i16, 5i16], [3i16, 6i16]] }
-- input { empty([0][3]i16) } output { empty([3][0]i16) }
entry transpose_i16 (xss: [][]i16) : [][]i16 = transpose xss

-- ==
-- entry: transpose_i32
-- input { [[1i32, 2i32, 3i32], [4i32, 5i32, 6i32]] }
-- output { [[1i32, 4i32], [2i32, 5i32], [3i32, 6i32]] }
-- input { empty([0][3]i32) } output { empty([3][0]i32) }
entry transpose_i32 (xss: [][]i32) : [][]i32 = transpose xss

-- ==
-- entry: transpose_i64
-- input { [[1i64, 2i64, 3i64], [4i64, 5i64, 6i64]] }
-- output { [[1i64, 4i64], [2i64, 5i64], [3i64, 6i64]] }
-- input { empty([0][3]i64) } output { empty([3][0]i64) }
entry transpose_i64 (xss: [][]i64) : [][]i64 = transpose xss

-- ==
-- entry: transpose_u8
-- input { [[1u8, 2u8, 3u8], [4u8, 5u8, 6u8]] }
-- output { [[1u8, 4u8], [2u8, 5u8], [3u8, 6u8]] }
-- input { empty([0][3]u8) } output { empty([3][0]u8) }
entry transpose_u8 (xss: [][]u8) : [][]u8 = transpose xss

-- ==
-- entry: transpose_u16
-- input { [[1u16, 2u16, 3u16], [4u16, 5u16, 6u16]] }
-- output { [[1u16, 4u16], [2u16, 5u16], [3u16, 6u16]] }
-- input { empty([0][3]u16) } output { empty([3][0]u16) }
entry transpose_u16 (xss: [][]u16) : [][]u16 = transpose xss

-- ==
-- entry: transpose_u32
-- input { [[1u32, 2u32, 3u32], [4u32, 5u32, 6u32]] }
-- output { [[1u32, 4u32], [2u32, 5u32], [3u32, 6u32]] }
-- input { empty([0][3]u32) } output { empty([3][0]u32) }
entry transpose_u32 (xss: [][]u32) : [][]u32 = transpose xss

-- ==
-- entry: transpose_u64
-- input { [[1u64, 2u64, 3u64], [4u64, 5u64, 6u64]] }
-- output { [[1u64, 4u64], [2u64, 5u64], [3u64, 6u64]] }
-- input { empty([0][3]u64) } output { empty([3][0]u64) }
entry transpose_u64 (xss: [][]u64) : [][]u64 = transpose xss

-- ==
-- entry: transpose_f16
-- input { [[1.5f16, f16.nan, 3f16], [-f16.inf, 5f16, -6.25f16]] }
-- output { [[1.5f16, -f16.inf], [f16.nan, 5f16], [3f16, -6.25f16]] }
-- input { empty([0][3]f16) } output { empty([3][0]f16) }
entry transpose_f16 (xss: [][]f16) : [][]f16 = transpose xss

-- ==
-- entry: transpose_f32
-- input { [[1.5f32, f32.nan, 3f32], [-f32.inf, 5f32, -6.25f32]] }
-- output { [[1.5f32, -f32.inf], [f32.nan, 5f32], [3f32, -6.25f32]] }
-- input { empty([0][3]f32) } output { empty([3][0]f32) }
entry transpose_f32 (xss: [][]f32) : [][]f32 = transpose xss

-- ==
-- entry: transpose_f64
-- input { [[1.5f64, f64.nan, 3f64], [-f64.inf, 5f64, -6.25f64]] }
-- output { [[1.5f64, -f64.inf], [f64.nan, 5f64], [3f64, -6.25f64]] }
-- input { empty([0][3]f64) } output { empty([3][0]f64) }
entry transpose_f64 (xss: [][]f64) : [][]f64 = transpose xss

-- ==
-- entry: transpose_bool
-- input { [[true, true, false], [false, true, false]] }
-- output { [[true, false], [true, true], [false, false]] }
-- input { empty([0][3]bool) } output { empty([3][0]bool) }
entry transpose_bool (xss: [][]bool) : [][]bool = transpose xss
