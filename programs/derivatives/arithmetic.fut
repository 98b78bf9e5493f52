-- Derivatives of arithmetic operations are correct in forward and in reverse mode, for every float
-- type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [6]F.t =
    [ x F.+ F.i32 3
    , F.i32 3 F.- x
    , x F.* x
    , x F./ F.i32 4
    , F.i32 4 F./ x
    , F.neg x
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 6 (\i -> vjp functions x (tabulate 6 (\j -> F.bool (i == j))))

  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def multiply_add = both (\x -> F.mad x x x)

  def fused_multiply_add = both (\x -> F.fma x (F.i32 2) x)

  def interpolate = both (\x -> F.lerp (F.i32 1) (F.i32 4) x)
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 } output { [1.0f64, -1.0f64, 1.0f64, 0.25f64, -16.0f64, -1.0f64] }
-- input { -2.0f64 } output { [1.0f64, -1.0f64, -4.0f64, 0.25f64, -1.0f64, -1.0f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 } output { [1.0f64, -1.0f64, 1.0f64, 0.25f64, -16.0f64, -1.0f64] }
-- input { -2.0f64 } output { [1.0f64, -1.0f64, -4.0f64, 0.25f64, -1.0f64, -1.0f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 } output { [1.0f32, -1.0f32, 1.0f32, 0.25f32, -16.0f32, -1.0f32] }
-- input { -2.0f32 } output { [1.0f32, -1.0f32, -4.0f32, 0.25f32, -1.0f32, -1.0f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 } output { [1.0f32, -1.0f32, 1.0f32, 0.25f32, -16.0f32, -1.0f32] }
-- input { -2.0f32 } output { [1.0f32, -1.0f32, -4.0f32, 0.25f32, -1.0f32, -1.0f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 } output { [1.0f16, -1.0f16, 1.0f16, 0.25f16, -16.0f16, -1.0f16] }
-- input { -2.0f16 } output { [1.0f16, -1.0f16, -4.0f16, 0.25f16, -1.0f16, -1.0f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 } output { [1.0f16, -1.0f16, 1.0f16, 0.25f16, -16.0f16, -1.0f16] }
-- input { -2.0f16 } output { [1.0f16, -1.0f16, -4.0f16, 0.25f16, -1.0f16, -1.0f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x

-- ==
-- entry: multiply_add_f64
-- input { 0.5f64 } output { 2.0f64 2.0f64 }
-- input { -2.0f64 } output { -3.0f64 -3.0f64 }
entry multiply_add_f64 (x: f64) = of_f64.multiply_add x

-- ==
-- entry: multiply_add_f32
-- input { 0.5f32 } output { 2.0f32 2.0f32 }
-- input { -2.0f32 } output { -3.0f32 -3.0f32 }
entry multiply_add_f32 (x: f32) = of_f32.multiply_add x

-- ==
-- entry: multiply_add_f16
-- input { 0.5f16 } output { 2.0f16 2.0f16 }
-- input { -2.0f16 } output { -3.0f16 -3.0f16 }
entry multiply_add_f16 (x: f16) = of_f16.multiply_add x

-- ==
-- entry: fused_multiply_add_f64
-- input { 0.5f64 } output { 3.0f64 3.0f64 }
-- input { -2.0f64 } output { 3.0f64 3.0f64 }
entry fused_multiply_add_f64 (x: f64) = of_f64.fused_multiply_add x

-- ==
-- entry: fused_multiply_add_f32
-- input { 0.5f32 } output { 3.0f32 3.0f32 }
-- input { -2.0f32 } output { 3.0f32 3.0f32 }
entry fused_multiply_add_f32 (x: f32) = of_f32.fused_multiply_add x

-- ==
-- entry: fused_multiply_add_f16
-- input { 0.5f16 } output { 3.0f16 3.0f16 }
-- input { -2.0f16 } output { 3.0f16 3.0f16 }
entry fused_multiply_add_f16 (x: f16) = of_f16.fused_multiply_add x

-- ==
-- entry: interpolate_f64
-- input { 0.5f64 } output { 3.0f64 3.0f64 }
-- input { -2.0f64 } output { 3.0f64 3.0f64 }
entry interpolate_f64 (x: f64) = of_f64.interpolate x

-- ==
-- entry: interpolate_f32
-- input { 0.5f32 } output { 3.0f32 3.0f32 }
-- input { -2.0f32 } output { 3.0f32 3.0f32 }
entry interpolate_f32 (x: f32) = of_f32.interpolate x

-- ==
-- entry: interpolate_f16
-- input { 0.5f16 } output { 3.0f16 3.0f16 }
-- input { -2.0f16 } output { 3.0f16 3.0f16 }
entry interpolate_f16 (x: f16) = of_f16.interpolate x
