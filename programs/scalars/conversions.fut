-- Conversions between all numeric types follow Futhark's rules, whatever the C types are: numbers
-- wrap, are widened (with the sign only if the result is signed), are rounded towards zero, or are
-- rounded to the nearest float.

-- ==
-- entry: narrow
-- input { 300i64 } output { 44i8 44u8 300i16 300u16 }
-- input { -1i64 } output { -1i8 255u8 -1i16 65535u16 }
-- input { 4294967296i64 } output { 0i8 0u8 0i16 0u16 }
entry narrow (x: i64) : (i8, u8, i16, u16) = (i8.i64 x, u8.i64 x, i16.i64 x, u16.i64 x)

-- ==
-- entry: widen
-- input { -1i8 255u8 } output { -1i64 255i64 255u64 255u64 }
entry widen (a: i8) (b: u8) : (i64, i64, u64, u64) = (i64.i8 a, i64.u8 b, u64.i8 a, u64.u8 b)

-- ==
-- entry: cut
-- input { 2.9f64 } output { 2i32 2i64 2u8 }
-- input { -2.9f64 } output { -2i32 -2i64 254u8 }
entry cut (x: f64) : (i32, i64, u8) = (i32.f64 x, i64.f64 x, u8.i64 (i64.f64 x))

-- ==
-- entry: rounded
-- input { 16777217i64 } output { 16777216i64 16777217i64 }
-- input { -9007199254740993i64 } output { -9007199254740992i64 -9007199254740992i64 }
entry rounded (x: i64) : (i64, i64) = (i64.f32 (f32.i64 x), i64.f64 (f64.i64 x))

-- ==
-- entry: truth
-- input { 0i32 } output { false 0i32 0f32 }
-- input { 1i32 } output { true 1i32 1f32 }
-- input { -2147483648i32 } output { true 1i32 1f32 }
entry truth (x: i32) : (bool, i32, f32) =
  let b = bool.i32 x
  in (b, i32.bool b, f32.bool b)

-- ==
-- entry: bits
-- input { 1f32 -0.0f64 } output { 1065353216u32 9223372036854775808u64 }
-- input { -f32.inf f64.inf } output { 0xff80_0000u32 0x7ff0_0000_0000_0000u64 }
entry bits (a: f32) (b: f64) : (u32, u64) = (f32.to_bits a, f64.to_bits b)
