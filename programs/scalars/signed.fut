-- Signed scalars of every width, including the extremes, are passed and returned unchanged, and
-- arithmetic wraps in two's complement.

-- ==
-- entry: id_i8
-- input { 0i8 } output { 0i8 }
-- input { 127i8 } output { 127i8 }
-- input { -128i8 } output { -128i8 }
entry id_i8 (x: i8) : i8 = x

-- ==
-- entry: id_i16
-- input { 32767i16 } output { 32767i16 }
-- input { -32768i16 } output { -32768i16 }
entry id_i16 (x: i16) : i16 = x

-- ==
-- entry: id_i32
-- input { 2147483647i32 } output { 2147483647i32 }
-- input { -2147483648i32 } output { -2147483648i32 }
entry id_i32 (x: i32) : i32 = x

-- ==
-- entry: id_i64
-- input { 9223372036854775807i64 } output { 9223372036854775807i64 }
-- input { -9223372036854775808i64 } output { -9223372036854775808i64 }
entry id_i64 (x: i64) : i64 = x

-- ==
-- entry: add_i8
-- input { 127i8 1i8 } output { -128i8 }
-- input { -128i8 -1i8 } output { 127i8 }
entry add_i8 (x: i8) (y: i8) : i8 = x + y

-- ==
-- entry: mul_i16
-- input { 300i16 300i16 } output { 24464i16 }
-- input { -32768i16 -1i16 } output { -32768i16 }
entry mul_i16 (x: i16) (y: i16) : i16 = x * y

-- ==
-- entry: sub_i32
-- input { -2147483648i32 1i32 } output { 2147483647i32 }
entry sub_i32 (x: i32) (y: i32) : i32 = x - y

-- ==
-- entry: neg_i64
-- input { -9223372036854775808i64 } output { -9223372036854775808i64 }
-- input { 1i64 } output { -1i64 }
entry neg_i64 (x: i64) : i64 = -x

-- `/` rounds down, `//` rounds towards zero.
-- ==
-- entry: div_i32
-- input { -7i32 2i32 } output { -4i32 1i32 -3i32 -1i32 }
-- input { 7i32 -2i32 } output { -4i32 -1i32 -3i32 1i32 }
entry div_i32 (x: i32) (y: i32) : (i32, i32, i32, i32) =
  (x / y, x % y, x // y, x %% y)

-- Takes parameters of all widths in one call.
-- ==
-- entry: all_widths
-- input { -1i8 -2i16 -3i32 -4i64 } output { -10i64 -4i64 -3i32 -2i16 -1i8 }
-- input { -128i8 -32768i16 -2147483648i32 -9223372036854775808i64 }
-- output { 9223372034707259264i64 -9223372036854775808i64 -2147483648i32
--          -32768i16 -128i8 }
entry all_widths (a: i8) (b: i16) (c: i32) (d: i64) : (i64, i64, i32, i16, i8) =
  (i64.i8 a + i64.i16 b + i64.i32 c + d, d, c, b, a)
