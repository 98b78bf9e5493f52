-- Derivatives of trigonometric functions whose angles are counted in half turns, and of the
-- inverse of a square root, are correct in forward and in reverse mode, for every float type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [6]F.t =
    [ F.sinpi x
    , F.cospi x
    , F.tanpi x
    , F.asinpi x
    , F.acospi x
    , F.rsqrt (x F.+ F.i32 1)
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 6 (\i -> vjp functions x (tabulate 6 (\j -> F.bool (i == j))))

  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def inverse_tangent = both (\x -> F.atanpi x)

  def angle = both (\x -> F.atan2pi x (F.i32 2))

  def turned_angle = both (\x -> F.atan2pi (F.i32 2) x)
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.125f64 }
-- output { [2.902453152f64, -1.20223546f64, 3.680604738f64, 0.320826209f64, -0.320826209f64,
--   -0.4190262407f64] }
-- input { -0.25f64 }
-- output { [2.221441469f64, 2.221441469f64, 6.283185307f64, 0.3287490368f64, -0.3287490368f64,
--   -0.7698003589f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.125f64 }
-- output { [2.902453152f64, -1.20223546f64, 3.680604738f64, 0.320826209f64, -0.320826209f64,
--   -0.4190262407f64] }
-- input { -0.25f64 }
-- output { [2.221441469f64, 2.221441469f64, 6.283185307f64, 0.3287490368f64, -0.3287490368f64,
--   -0.7698003589f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.125f32 }
-- output { [2.902453f32, -1.202235f32, 3.680605f32, 0.3208262f32, -0.3208262f32, -0.4190262f32] }
-- input { -0.25f32 }
-- output { [2.221441f32, 2.221441f32, 6.283185f32, 0.328749f32, -0.328749f32, -0.7698004f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.125f32 }
-- output { [2.902453f32, -1.202235f32, 3.680605f32, 0.3208262f32, -0.3208262f32, -0.4190262f32] }
-- input { -0.25f32 }
-- output { [2.221441f32, 2.221441f32, 6.283185f32, 0.328749f32, -0.328749f32, -0.7698004f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.125f16 } output { [2.902f16, -1.202f16, 3.681f16, 0.3208f16, -0.3208f16, -0.419f16] }
-- input { -0.25f16 } output { [2.221f16, 2.221f16, 6.283f16, 0.3287f16, -0.3287f16, -0.7698f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.125f16 } output { [2.902f16, -1.202f16, 3.681f16, 0.3208f16, -0.3208f16, -0.419f16] }
-- input { -0.25f16 } output { [2.221f16, 2.221f16, 6.283f16, 0.3287f16, -0.3287f16, -0.7698f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x

-- ==
-- entry: inverse_tangent_f64
-- input { 0.125f64 } output { 0.313412811f64 0.313412811f64 }
-- input { -0.25f64 } output { 0.2995857752f64 0.2995857752f64 }
entry inverse_tangent_f64 (x: f64) = of_f64.inverse_tangent x

-- ==
-- entry: inverse_tangent_f32
-- input { 0.125f32 } output { 0.3134128f32 0.3134128f32 }
-- input { -0.25f32 } output { 0.2995858f32 0.2995858f32 }
entry inverse_tangent_f32 (x: f32) = of_f32.inverse_tangent x

-- ==
-- entry: inverse_tangent_f16
-- input { 0.125f16 } output { 0.3134f16 0.3134f16 }
-- input { -0.25f16 } output { 0.2996f16 0.2996f16 }
entry inverse_tangent_f16 (x: f16) = of_f16.inverse_tangent x

-- ==
-- entry: angle_f64
-- input { 0.125f64 } output { 0.1585356632f64 0.1585356632f64 }
-- input { -0.25f64 } output { 0.1567064055f64 0.1567064055f64 }
entry angle_f64 (x: f64) = of_f64.angle x

-- ==
-- entry: angle_f32
-- input { 0.125f32 } output { 0.1585357f32 0.1585357f32 }
-- input { -0.25f32 } output { 0.1567064f32 0.1567064f32 }
entry angle_f32 (x: f32) = of_f32.angle x

-- ==
-- entry: angle_f16
-- input { 0.125f16 } output { 0.1585f16 0.1585f16 }
-- input { -0.25f16 } output { 0.1567f16 0.1567f16 }
entry angle_f16 (x: f16) = of_f16.angle x

-- ==
-- entry: turned_angle_f64
-- input { 0.125f64 } output { -0.1585356632f64 -0.1585356632f64 }
-- input { -0.25f64 } output { -0.1567064055f64 -0.1567064055f64 }
entry turned_angle_f64 (x: f64) = of_f64.turned_angle x

-- ==
-- entry: turned_angle_f32
-- input { 0.125f32 } output { -0.1585357f32 -0.1585357f32 }
-- input { -0.25f32 } output { -0.1567064f32 -0.1567064f32 }
entry turned_angle_f32 (x: f32) = of_f32.turned_angle x

-- ==
-- entry: turned_angle_f16
-- input { 0.125f16 } output { -0.1585f16 -0.1585f16 }
-- input { -0.25f16 } output { -0.1567f16 -0.1567f16 }
entry turned_angle_f16 (x: f16) = of_f16.turned_angle x
