-- Constants of the program can be the lowest and the highest number of every type, alone and in
-- arrays, and patterns of matches too.

def ends_i8 : [2]i8 = opaque [i8.lowest, i8.highest]
def ends_i16 : [2]i16 = opaque [i16.lowest, i16.highest]
def ends_i32 : [2]i32 = opaque [i32.lowest, i32.highest]
def ends_i64 : [2]i64 = opaque [i64.lowest, i64.highest]
def ends_u8 : [2]u8 = opaque [u8.lowest, u8.highest]
def ends_u16 : [2]u16 = opaque [u16.lowest, u16.highest]
def ends_u32 : [2]u32 = opaque [u32.lowest, u32.highest]
def ends_u64 : [2]u64 = opaque [u64.lowest, u64.highest]
def ends_f16 : [2]f16 = opaque [f16.lowest, f16.highest]
def ends_f32 : [2]f32 = opaque [f32.lowest, f32.highest]
def ends_f64 : [2]f64 = opaque [f64.lowest, f64.highest]

-- ==
-- entry: constants_f16
-- input {} output { [-f16.inf, f16.inf] }
entry constants_f16 : [2]f16 = ends_f16

-- ==
-- entry: constants
-- input {} output { [-128i8, 127i8] [-32768i16, 32767i16] [-2147483648i32, 2147483647i32]
--   [-9223372036854775808i64, 9223372036854775807i64] [0u8, 255u8] [0u16, 65535u16] [0u32,
--   4294967295u32] [0u64, 18446744073709551615u64] [-f32.inf, f32.inf] [-f64.inf, f64.inf] }
entry constants : ( [2]i8
                  , [2]i16
                  , [2]i32
                  , [2]i64
                  , [2]u8
                  , [2]u16
                  , [2]u32
                  , [2]u64
                  , [2]f32
                  , [2]f64
                  ) =
  ( ends_i8
  , ends_i16
  , ends_i32
  , ends_i64
  , ends_u8
  , ends_u16
  , ends_u32
  , ends_u64
  , ends_f32
  , ends_f64
  )

-- ==
-- entry: matched_i8
-- input { -128i8 } output { 127i8 }
-- input { 127i8 } output { -128i8 }
-- input { 1i8 } output { 1i8 }
entry matched_i8 (x: i8) : i8 =
  match x
  case -128i8 -> i8.highest
  case 127i8 -> i8.lowest
  case _ -> x

-- ==
-- entry: matched_i16
-- input { -32768i16 } output { 32767i16 }
-- input { 32767i16 } output { -32768i16 }
-- input { 1i16 } output { 1i16 }
entry matched_i16 (x: i16) : i16 =
  match x
  case -32768i16 -> i16.highest
  case 32767i16 -> i16.lowest
  case _ -> x

-- ==
-- entry: matched_i32
-- input { -2147483648i32 } output { 2147483647i32 }
-- input { 2147483647i32 } output { -2147483648i32 }
-- input { 1i32 } output { 1i32 }
entry matched_i32 (x: i32) : i32 =
  match x
  case -2147483648i32 -> i32.highest
  case 2147483647i32 -> i32.lowest
  case _ -> x

-- ==
-- entry: matched_i64
-- input { -9223372036854775808i64 } output { 9223372036854775807i64 }
-- input { 9223372036854775807i64 } output { -9223372036854775808i64 }
-- input { 1i64 } output { 1i64 }
entry matched_i64 (x: i64) : i64 =
  match x
  case -9223372036854775808i64 -> i64.highest
  case 9223372036854775807i64 -> i64.lowest
  case _ -> x

-- ==
-- entry: matched_u8
-- input { 0u8 } output { 255u8 }
-- input { 255u8 } output { 0u8 }
-- input { 1u8 } output { 1u8 }
entry matched_u8 (x: u8) : u8 =
  match x
  case 0u8 -> u8.highest
  case 255u8 -> u8.lowest
  case _ -> x

-- ==
-- entry: matched_u16
-- input { 0u16 } output { 65535u16 }
-- input { 65535u16 } output { 0u16 }
-- input { 1u16 } output { 1u16 }
entry matched_u16 (x: u16) : u16 =
  match x
  case 0u16 -> u16.highest
  case 65535u16 -> u16.lowest
  case _ -> x

-- ==
-- entry: matched_u32
-- input { 0u32 } output { 4294967295u32 }
-- input { 4294967295u32 } output { 0u32 }
-- input { 1u32 } output { 1u32 }
entry matched_u32 (x: u32) : u32 =
  match x
  case 0u32 -> u32.highest
  case 4294967295u32 -> u32.lowest
  case _ -> x

-- ==
-- entry: matched_u64
-- input { 0u64 } output { 18446744073709551615u64 }
-- input { 18446744073709551615u64 } output { 0u64 }
-- input { 1u64 } output { 1u64 }
entry matched_u64 (x: u64) : u64 =
  match x
  case 0u64 -> u64.highest
  case 18446744073709551615u64 -> u64.lowest
  case _ -> x
