-- f16 arithmetic rounds to half precision, and conversions from and to other types follow the
-- format: overflow to infinity, subnormals, NaN.

-- ==
-- entry: id_f16
-- input { 0f16 } output { 0f16 }
-- input { 65504f16 } output { 65504f16 }
-- input { -f16.inf } output { -f16.inf }
-- input { f16.nan } output { f16.nan }
entry id_f16 (x: f16) : f16 = x

-- ==
-- entry: add
-- input { 1f16 2f16 } output { 3f16 }
-- input { 2048f16 1f16 } output { 2048f16 }
-- input { 65504f16 65504f16 } output { f16.inf }
-- input { f16.inf -f16.inf } output { f16.nan }
entry add (x: f16) (y: f16) : f16 = x + y

-- ==
-- entry: arithmetic
-- input { 3f16 2f16 } output { 1f16 6f16 1.5f16 -3f16 }
-- input { 1f16 0f16 } output { 1f16 0f16 f16.inf -1f16 }
-- input { 0.1f16 3f16 } output { -2.9f16 0.3f16 0.033325f16 -0.1f16 }
entry arithmetic (x: f16) (y: f16) : (f16, f16, f16, f16) = (x - y, x * y, x / y, -x)

-- ==
-- entry: widen
-- input { 0.5f16 } output { 0.5f32 0.5f64 0i32 }
-- input { 0.1f16 } output { 0.099975586f32 0.0999755859375f64 0i32 }
-- input { -2.5f16 } output { -2.5f32 -2.5f64 -2i32 }
entry widen (x: f16) : (f32, f64, i32) = (f32.f16 x, f64.f16 x, i32.f16 x)

-- ==
-- entry: narrow
-- input { 1f32 } output { 1f16 }
-- input { 1e6f32 } output { f16.inf }
-- input { 1e-9f32 } output { 0f16 }
-- input { f32.nan } output { f16.nan }
entry narrow (x: f32) : f16 = f16.f32 x

-- ==
-- entry: bits
-- input { 1f16 } output { 15360u16 }
-- input { 6e-8f16 } output { 1u16 }
-- input { f16.inf } output { 31744u16 }
entry bits (x: f16) : u16 = f16.to_bits x

-- `futhark test` reads a negative zero of this type as zero, so the program computes one.
-- ==
-- entry: negated_bits
-- input { 0f16 } output { 32768u16 }
-- input { 1f16 } output { 48128u16 }
entry negated_bits (x: f16) : u16 = f16.to_bits (-x)

-- ==
-- entry: from_bits
-- input { 15360u16 } output { 1f16 false }
-- input { 32256u16 } output { f16.nan true }
-- input { 64512u16 } output { -f16.inf false }
entry from_bits (x: u16) : (f16, bool) =
  let y = f16.from_bits x
  in (y, f16.isnan y)

-- ==
-- entry: compare
-- input { 1f16 2f16 } output { true false }
-- input { f16.nan f16.nan } output { false false }
-- input { 0f16 -0.0f16 } output { false true }
entry compare (x: f16) (y: f16) : (bool, bool) = (x < y, x == y)
