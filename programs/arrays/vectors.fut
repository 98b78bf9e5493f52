-- A vector of each of the twelve element types is copied to the program, reversed there, and
-- copied back without any other change.

-- The results share the memory of the arguments.
-- ==
-- entry: same
-- input { [-128i8, -1i8, 0i8, 127i8] [-32768i16, 0i16, 32767i16]
--         [-2147483648i32, 0i32, 2147483647i32]
--         [-9223372036854775808i64, 0i64, 9223372036854775807i64] [0u8, 1u8, 128u8, 255u8]
--         [0u16, 32768u16, 65535u16] [0u32, 2147483648u32, 4294967295u32]
--         [0u64, 9223372036854775808u64, 18446744073709551615u64]
--         [-1.5f16, 0f16, f16.inf, f16.nan] [-1.5f32, 1e-45f32, f32.inf, f32.nan]
--         [-1.5f64, 5e-324f64, -f64.inf, f64.nan] [true, false, false] }
-- output { [-128i8, -1i8, 0i8, 127i8] [-32768i16, 0i16, 32767i16]
--          [-2147483648i32, 0i32, 2147483647i32]
--          [-9223372036854775808i64, 0i64, 9223372036854775807i64] [0u8, 1u8, 128u8, 255u8]
--          [0u16, 32768u16, 65535u16] [0u32, 2147483648u32, 4294967295u32]
--          [0u64, 9223372036854775808u64, 18446744073709551615u64]
--          [-1.5f16, 0f16, f16.inf, f16.nan] [-1.5f32, 1e-45f32, f32.inf, f32.nan]
--          [-1.5f64, 5e-324f64, -f64.inf, f64.nan] [true, false, false] }
-- input { empty([0]i8) empty([0]i16) empty([0]i32) empty([0]i64) empty([0]u8) empty([0]u16)
--         empty([0]u32) empty([0]u64) empty([0]f16) empty([0]f32) empty([0]f64) empty([0]bool) }
-- output { empty([0]i8) empty([0]i16) empty([0]i32) empty([0]i64) empty([0]u8) empty([0]u16)
--          empty([0]u32) empty([0]u64) empty([0]f16) empty([0]f32) empty([0]f64) empty([0]bool) }
entry same (a: []i8)
           (b: []i16)
           (c: []i32)
           (d: []i64)
           (e: []u8)
           (f: []u16)
           (g: []u32)
           (h: []u64)
           (i: []f16)
           (j: []f32)
           (k: []f64)
           (l: []bool) =
  (a, b, c, d, e, f, g, h, i, j, k, l)

-- ==
-- entry: reverse_i8
-- input { [-128i8, -1i8, 0i8, 127i8] } output { [127i8, 0i8, -1i8, -128i8] }
-- input { empty([0]i8) } output { empty([0]i8) }
entry reverse_i8 (xs: []i8) : []i8 = reverse xs

-- ==
-- entry: reverse_i16
-- input { [-32768i16, 0i16, 32767i16] } output { [32767i16, 0i16, -32768i16] }
-- input { empty([0]i16) } output { empty([0]i16) }
entry reverse_i16 (xs: []i16) : []i16 = reverse xs

-- ==
-- entry: reverse_i32
-- input { [-2147483648i32, 0i32, 2147483647i32] } output { [2147483647i32, 0i32, -2147483648i32] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry reverse_i32 (xs: []i32) : []i32 = reverse xs

-- ==
-- entry: reverse_i64
-- input { [-9223372036854775808i64, 0i64, 9223372036854775807i64] }
-- output { [9223372036854775807i64, 0i64, -9223372036854775808i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
entry reverse_i64 (xs: []i64) : []i64 = reverse xs

-- ==
-- entry: reverse_u8
-- input { [0u8, 1u8, 128u8, 255u8] } output { [255u8, 128u8, 1u8, 0u8] }
-- input { empty([0]u8) } output { empty([0]u8) }
entry reverse_u8 (xs: []u8) : []u8 = reverse xs

-- ==
-- entry: reverse_u16
-- input { [0u16, 32768u16, 65535u16] } output { [65535u16, 32768u16, 0u16] }
-- input { empty([0]u16) } output { empty([0]u16) }
entry reverse_u16 (xs: []u16) : []u16 = reverse xs

-- ==
-- entry: reverse_u32
-- input { [0u32, 2147483648u32, 4294967295u32] } output { [4294967295u32, 2147483648u32, 0u32] }
-- input { empty([0]u32) } output { empty([0]u32) }
entry reverse_u32 (xs: []u32) : []u32 = reverse xs

-- ==
-- entry: reverse_u64
-- input { [0u64, 9223372036854775808u64, 18446744073709551615u64] }
-- output { [18446744073709551615u64, 9223372036854775808u64, 0u64] }
-- input { empty([0]u64) } output { empty([0]u64) }
entry reverse_u64 (xs: []u64) : []u64 = reverse xs

-- ==
-- entry: reverse_f16
-- input { [-1.5f16, 0f16, f16.inf, f16.nan] } output { [f16.nan, f16.inf, 0f16, -1.5f16] }
-- input { empty([0]f16) } output { empty([0]f16) }
entry reverse_f16 (xs: []f16) : []f16 = reverse xs

-- ==
-- entry: reverse_f32
-- input { [-1.5f32, 1e-45f32, f32.inf, f32.nan] } output { [f32.nan, f32.inf, 1e-45f32, -1.5f32] }
-- input { empty([0]f32) } output { empty([0]f32) }
entry reverse_f32 (xs: []f32) : []f32 = reverse xs

-- ==
-- entry: reverse_f64
-- input { [-1.5f64, 5e-324f64, -f64.inf, f64.nan] }
-- output { [f64.nan, -f64.inf, 5e-324f64, -1.5f64] }
-- input { empty([0]f64) } output { empty([0]f64) }
entry reverse_f64 (xs: []f64) : []f64 = reverse xs

-- ==
-- entry: reverse_bool
-- input { [true, false, false] } output { [false, false, true] }
-- input { empty([0]bool) } output { empty([0]bool) }
entry reverse_bool (xs: []bool) : []bool = reverse xs
