-- Integers in test blocks can be decimal, hexadecimal or binary, with underscores, signs and a
-- suffix for every type; numbers that are too wide for their type wrap.

-- ==
-- entry: same_i32
-- input { 42 } output { 42i32 }
-- input { +7 } output { 0b111 }
-- input { -0x10 } output { -16 }
-- input { 0xff32 } output { 65330 }
-- input { 1_000_000 } output { 1__000__000_ }
-- input { 0x7fff_ffff } output { 2147483647 }
-- input { 4294967295 } output { -1 }
entry same_i32 (x: i32) : i32 = x

-- ==
-- entry: same_i8
-- input { 300i8 } output { 44i8 }
-- input { 0xffi8 } output { -1i8 }
-- input { -0b1000_0000i8 } output { -128i8 }
entry same_i8 (x: i8) : i8 = x

-- ==
-- entry: same_u64
-- input { 18446744073709551615u64 } output { 0xffff_ffff_ffff_ffffu64 }
-- input { -1u64 } output { 18446744073709551615u64 }
entry same_u64 (x: u64) : u64 = x

-- ==
-- entry: all
-- input { 1i8 2i16 3i32 4i64 5u8 6u16 7u32 8u64 } output { 36i64 }
-- input { 0x1i8 0x2i16 0x3i32 0x4i64 0b101u8 0b110u16 0b111u32 0b1000u64 } output { 36i64 }
entry all (a: i8) (b: i16) (c: i32) (d: i64) (e: u8) (f: u16) (g: u32) (h: u64) : i64 =
  i64.i8 a + i64.i16 b + i64.i32 c + d + i64.u8 e + i64.u16 f + i64.u32 g + i64.u64 h
