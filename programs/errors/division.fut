-- An integer division by zero is a program error for every integer type and every operator that
-- divides; a float division by zero is not an error.

-- ==
-- entry: div_i8
-- input { -128i8 -127i8 } output { 1i8 }
-- input { 1i8 0i8 } error: division by zero
entry div_i8 (x: i8) (y: i8) : i8 = x / y

-- ==
-- entry: div_i16
-- input { -7i16 2i16 } output { -4i16 }
-- input { 0i16 0i16 } error: division by zero
entry div_i16 (x: i16) (y: i16) : i16 = x / y

-- ==
-- entry: div_i32
-- input { 7i32 -2i32 } output { -4i32 }
-- input { 7i32 0i32 } error: division by zero
entry div_i32 (x: i32) (y: i32) : i32 = x / y

-- ==
-- entry: div_i64
-- input { 9223372036854775807i64 2i64 } output { 4611686018427387903i64 }
-- input { -9223372036854775808i64 0i64 } error: division by zero
entry div_i64 (x: i64) (y: i64) : i64 = x / y

-- ==
-- entry: div_u8
-- input { 255u8 2u8 } output { 127u8 }
-- input { 255u8 0u8 } error: division by zero
entry div_u8 (x: u8) (y: u8) : u8 = x / y

-- ==
-- entry: div_u64
-- input { 18446744073709551615u64 18446744073709551615u64 } output { 1u64 }
-- input { 1u64 0u64 } error: division by zero
entry div_u64 (x: u64) (y: u64) : u64 = x / y

-- ==
-- entry: mod_i32
-- input { -7i32 2i32 } output { 1i32 }
-- input { -7i32 0i32 } error: division by zero
entry mod_i32 (x: i32) (y: i32) : i32 = x % y

-- ==
-- entry: quot_i64
-- input { -7i64 2i64 } output { -3i64 }
-- input { -7i64 0i64 } error: division by zero
entry quot_i64 (x: i64) (y: i64) : i64 = x // y

-- ==
-- entry: rem_i64
-- input { -7i64 2i64 } output { -1i64 }
-- input { -7i64 0i64 } error: division by zero
entry rem_i64 (x: i64) (y: i64) : i64 = x %% y

-- ==
-- entry: div_f32
-- input { 1f32 0f32 } output { f32.inf }
-- input { 0f32 0f32 } output { f32.nan }
entry div_f32 (x: f32) (y: f32) : f32 = x / y
