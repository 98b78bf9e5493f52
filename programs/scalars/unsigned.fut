-- Unsigned scalars of every width are passed and returned unchanged, and are never interpreted as
-- signed scalars of the same width.

-- ==
-- entry: id_u8
-- input { 0u8 } output { 0u8 }
-- input { 255u8 } output { 255u8 }
entry id_u8 (x: u8) : u8 = x

-- ==
-- entry: id_u16
-- input { 65535u16 } output { 65535u16 }
entry id_u16 (x: u16) : u16 = x

-- ==
-- entry: id_u32
-- input { 4294967295u32 } output { 4294967295u32 }
entry id_u32 (x: u32) : u32 = x

-- ==
-- entry: id_u64
-- input { 18446744073709551615u64 } output { 18446744073709551615u64 }
-- input { 9223372036854775808u64 } output { 9223372036854775808u64 }
entry id_u64 (x: u64) : u64 = x

-- ==
-- entry: widen
-- input { 255u8 65535u16 4294967295u32 } output { 255u64 65535u64 4294967295u64 }
entry widen (a: u8) (b: u16) (c: u32) : (u64, u64, u64) =
  (u64.u8 a, u64.u16 b, u64.u32 c)

-- ==
-- entry: reinterpret
-- input { 255u8 65535u16 4294967295u32 18446744073709551615u64 }
-- output { -1i8 -1i16 -1i32 -1i64 }
entry reinterpret (a: u8) (b: u16) (c: u32) (d: u64) : (i8, i16, i32, i64) =
  (i8.u8 a, i16.u16 b, i32.u32 c, i64.u64 d)

-- ==
-- entry: compare
-- input { 255u8 1u8 } output { false true }
-- input { 1u8 255u8 } output { true false }
entry compare (x: u8) (y: u8) : (bool, bool) = (x < y, x > y)

-- ==
-- entry: wrap
-- input { 0u8 0u16 0u32 0u64 }
-- output { 255u8 65535u16 4294967295u32 18446744073709551615u64 }
entry wrap (a: u8) (b: u16) (c: u32) (d: u64) : (u8, u16, u32, u64) =
  (a - 1, b - 1, c - 1, d - 1)

-- The numbers of i64 with these bits are the lowest and -1, whose quotient overflows.
-- ==
-- entry: divide
-- input { 9223372036854775808u64 18446744073709551615u64 }
-- output { 0u64 9223372036854775808u64 0u64 9223372036854775808u64 }
-- input { 18446744073709551615u64 9223372036854775808u64 }
-- output { 1u64 9223372036854775807u64 1u64 9223372036854775807u64 }
entry divide (x: u64) (y: u64) : (u64, u64, u64, u64) = (x / y, x % y, x // y, x %% y)

-- ==
-- entry: bits
-- input { 0u32 } output { 0i32 32i32 32i32 }
-- input { 65536u32 } output { 1i32 15i32 16i32 }
-- input { 4294967295u32 } output { 32i32 0i32 0i32 }
entry bits (x: u32) : (i32, i32, i32) = (u32.popc x, u32.clz x, u32.ctz x)

-- ==
-- entry: shift
-- input { 2147483649u32 } output { 1073741824u32 -1073741824i32 2u32 }
entry shift (x: u32) : (u32, i32, u32) = (x >> 1, i32.u32 x >> 1, x << 1)
