-- Derivatives of roots, powers, exponential functions and logarithms are correct in forward and in
-- reverse mode, for every float type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [11]F.t =
    [ F.sqrt x
    , F.exp x
    , F.log x
    , F.log2 x
    , F.log10 x
    , F.log1p x
    , x F.** F.f64 1.5
    , F.f64 1.5 F.** x
    , x F.** x
    , x F.** F.i32 2
    , F.recip x
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 11 (\i -> vjp functions x (tabulate 11 (\j -> F.bool (i == j))))
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 }
-- output { [0.7071067812f64, 1.648721271f64, 2.0f64, 2.885390082f64, 0.8685889638f64,
--   0.6666666667f64, 1.060660172f64, 0.4965913117f64, 0.2169777095f64, 1.0f64, -4.0f64] }
-- input { 1.5f64 }
-- output { [0.4082482905f64, 4.48168907f64, 0.6666666667f64, 0.9617966939f64, 0.2895296546f64,
--   0.4f64, 1.837117307f64, 0.7448869675f64, 2.582004275f64, 3.0f64, -0.4444444444f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 }
-- output { [0.7071067812f64, 1.648721271f64, 2.0f64, 2.885390082f64, 0.8685889638f64,
--   0.6666666667f64, 1.060660172f64, 0.4965913117f64, 0.2169777095f64, 1.0f64, -4.0f64] }
-- input { 1.5f64 }
-- output { [0.4082482905f64, 4.48168907f64, 0.6666666667f64, 0.9617966939f64, 0.2895296546f64,
--   0.4f64, 1.837117307f64, 0.7448869675f64, 2.582004275f64, 3.0f64, -0.4444444444f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 }
-- output { [0.7071068f32, 1.648721f32, 2.0f32, 2.88539f32, 0.868589f32, 0.6666667f32,
--   1.06066f32, 0.4965913f32, 0.2169777f32, 1.0f32, -4.0f32] }
-- input { 1.5f32 }
-- output { [0.4082483f32, 4.481689f32, 0.6666667f32, 0.9617967f32, 0.2895297f32, 0.4f32,
--   1.837117f32, 0.744887f32, 2.582004f32, 3.0f32, -0.4444444f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 }
-- output { [0.7071068f32, 1.648721f32, 2.0f32, 2.88539f32, 0.868589f32, 0.6666667f32,
--   1.06066f32, 0.4965913f32, 0.2169777f32, 1.0f32, -4.0f32] }
-- input { 1.5f32 }
-- output { [0.4082483f32, 4.481689f32, 0.6666667f32, 0.9617967f32, 0.2895297f32, 0.4f32,
--   1.837117f32, 0.744887f32, 2.582004f32, 3.0f32, -0.4444444f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 }
-- output { [0.7071f16, 1.649f16, 2.0f16, 2.885f16, 0.8686f16, 0.6667f16, 1.061f16, 0.4966f16,
--   0.217f16, 1.0f16, -4.0f16] }
-- input { 1.5f16 }
-- output { [0.4082f16, 4.482f16, 0.6667f16, 0.9618f16, 0.2895f16, 0.4f16, 1.837f16, 0.7449f16,
--   2.582f16, 3.0f16, -0.4444f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 }
-- output { [0.7071f16, 1.649f16, 2.0f16, 2.885f16, 0.8686f16, 0.6667f16, 1.061f16, 0.4966f16,
--   0.217f16, 1.0f16, -4.0f16] }
-- input { 1.5f16 }
-- output { [0.4082f16, 4.482f16, 0.6667f16, 0.9618f16, 0.2895f16, 0.4f16, 1.837f16, 0.7449f16,
--   2.582f16, 3.0f16, -0.4444f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x
