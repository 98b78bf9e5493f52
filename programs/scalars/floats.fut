-- f32 and f64 scalars are passed and returned bit for bit, including infinities, signed zeros,
-- subnormals and NaN.

-- ==
-- entry: id_f32
-- input { 0f32 } output { 0f32 }
-- input { -1.5f32 } output { -1.5f32 }
-- input { 3.4028235e38f32 } output { 3.4028235e38f32 }
-- input { 1e-45f32 } output { 1e-45f32 }
-- input { f32.inf } output { f32.inf }
-- input { -f32.inf } output { -f32.inf }
-- input { f32.nan } output { f32.nan }
entry id_f32 (x: f32) : f32 = x

-- ==
-- entry: id_f64
-- input { 0f64 } output { 0f64 }
-- input { 1.7976931348623157e308f64 } output { 1.7976931348623157e308f64 }
-- input { 5e-324f64 } output { 5e-324f64 }
-- input { f64.inf } output { f64.inf }
-- input { -f64.inf } output { -f64.inf }
-- input { f64.nan } output { f64.nan }
entry id_f64 (x: f64) : f64 = x

-- ==
-- entry: bits_f32
-- input { 1f32 } output { 1065353216u32 }
-- input { -0.0f32 } output { 2147483648u32 }
-- input { f32.inf } output { 2139095040u32 }
-- input { 1e-45f32 } output { 1u32 }
entry bits_f32 (x: f32) : u32 = f32.to_bits x

-- ==
-- entry: bits_f64
-- input { 1f64 } output { 4607182418800017408u64 }
-- input { -0.0f64 } output { 9223372036854775808u64 }
-- input { -f64.inf } output { 18442240474082181120u64 }
entry bits_f64 (x: f64) : u64 = f64.to_bits x

-- ==
-- entry: from_bits
-- input { 2143289344u32 9221120237041090560u64 } output { f32.nan f64.nan true true }
-- input { 1u32 1u64 } output { 1e-45f32 5e-324f64 false false }
entry from_bits (x: u32) (y: u64) : (f32, f64, bool, bool) =
  let a = f32.from_bits x
  let b = f64.from_bits y
  in (a, b, f32.isnan a, f64.isnan b)

-- ==
-- entry: divide
-- input { 1f64 0f64 } output { f64.inf }
-- input { -1f64 0f64 } output { -f64.inf }
-- input { 1f64 -0.0f64 } output { -f64.inf }
-- input { 0f64 0f64 } output { f64.nan }
-- input { 1f64 4f64 } output { 0.25f64 }
entry divide (x: f64) (y: f64) : f64 = x / y

-- NaN is not equal to itself and not less than any number.
-- ==
-- entry: compare
-- input { f64.nan f64.nan } output { false false false }
-- input { 0f64 -0.0f64 } output { true false false }
-- input { -f64.inf f64.inf } output { false true false }
entry compare (x: f64) (y: f64) : (bool, bool, bool) = (x == y, x < y, x > y)

-- ==
-- entry: narrow
-- input { 0.1f64 } output { 0.1f32 }
-- input { 1e300f64 } output { f32.inf }
-- input { 1e-300f64 } output { 0f32 }
-- input { f64.nan } output { f32.nan }
entry narrow (x: f64) : f32 = f32.f64 x

-- ==
-- entry: functions
-- input { 0f64 } output { 0f64 1f64 1f64 0f64 }
-- input { -1f64 } output { f64.nan 0.36787944117144233f64 0.5403023058681398f64 -1f64 }
-- input { f64.inf } output { f64.inf f64.inf f64.nan f64.inf }
entry functions (x: f64) : (f64, f64, f64, f64) =
  (f64.sqrt x, f64.exp x, f64.cos x, f64.floor x)
