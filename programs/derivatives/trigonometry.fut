-- Derivatives of trigonometric functions are correct in forward and in reverse mode, for every
-- float type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [6]F.t =
    [ F.sin x
    , F.cos x
    , F.tan x
    , F.asin x
    , F.acos x
    , F.hypot x (F.i32 2)
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 6 (\i -> vjp functions x (tabulate 6 (\j -> F.bool (i == j))))

  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def inverse_tangent = both (\x -> F.atan x)

  def angle = both (\x -> F.atan2 x (F.i32 2))

  def turned_angle = both (\x -> F.atan2 (F.i32 2) x)
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 }
-- output { [0.8775825619f64, -0.4794255386f64, 1.29844641f64, 1.154700538f64, -1.154700538f64,
--   0.242535625f64] }
-- input { -0.25f64 }
-- output { [0.9689124217f64, 0.2474039593f64, 1.065199497f64, 1.032795559f64, -1.032795559f64,
--   -0.1240347346f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 }
-- output { [0.8775825619f64, -0.4794255386f64, 1.29844641f64, 1.154700538f64, -1.154700538f64,
--   0.242535625f64] }
-- input { -0.25f64 }
-- output { [0.9689124217f64, 0.2474039593f64, 1.065199497f64, 1.032795559f64, -1.032795559f64,
--   -0.1240347346f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 }
-- output { [0.8775826f32, -0.4794255f32, 1.298446f32, 1.154701f32, -1.154701f32, 0.2425356f32] }
-- input { -0.25f32 }
-- output { [0.9689124f32, 0.247404f32, 1.065199f32, 1.032796f32, -1.032796f32, -0.1240347f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 }
-- output { [0.8775826f32, -0.4794255f32, 1.298446f32, 1.154701f32, -1.154701f32, 0.2425356f32] }
-- input { -0.25f32 }
-- output { [0.9689124f32, 0.247404f32, 1.065199f32, 1.032796f32, -1.032796f32, -0.1240347f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 } output { [0.8776f16, -0.4794f16, 1.298f16, 1.155f16, -1.155f16, 0.2425f16] }
-- input { -0.25f16 } output { [0.9689f16, 0.2474f16, 1.065f16, 1.033f16, -1.033f16, -0.124f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 } output { [0.8776f16, -0.4794f16, 1.298f16, 1.155f16, -1.155f16, 0.2425f16] }
-- input { -0.25f16 } output { [0.9689f16, 0.2474f16, 1.065f16, 1.033f16, -1.033f16, -0.124f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x

-- ==
-- entry: inverse_tangent_f64
-- input { 0.5f64 } output { 0.8f64 0.8f64 }
-- input { -0.25f64 } output { 0.9411764706f64 0.9411764706f64 }
entry inverse_tangent_f64 (x: f64) = of_f64.inverse_tangent x

-- ==
-- entry: inverse_tangent_f32
-- input { 0.5f32 } output { 0.8f32 0.8f32 }
-- input { -0.25f32 } output { 0.9411765f32 0.9411765f32 }
entry inverse_tangent_f32 (x: f32) = of_f32.inverse_tangent x

-- ==
-- entry: inverse_tangent_f16
-- input { 0.5f16 } output { 0.8f16 0.8f16 }
-- input { -0.25f16 } output { 0.9412f16 0.9412f16 }
entry inverse_tangent_f16 (x: f16) = of_f16.inverse_tangent x

-- ==
-- entry: angle_f64
-- input { 0.5f64 } output { 0.4705882353f64 0.4705882353f64 }
-- input { -0.25f64 } output { 0.4923076923f64 0.4923076923f64 }
entry angle_f64 (x: f64) = of_f64.angle x

-- ==
-- entry: angle_f32
-- input { 0.5f32 } output { 0.4705882f32 0.4705882f32 }
-- input { -0.25f32 } output { 0.4923077f32 0.4923077f32 }
entry angle_f32 (x: f32) = of_f32.angle x

-- ==
-- entry: angle_f16
-- input { 0.5f16 } output { 0.4706f16 0.4706f16 }
-- input { -0.25f16 } output { 0.4923f16 0.4923f16 }
entry angle_f16 (x: f16) = of_f16.angle x

-- ==
-- entry: turned_angle_f64
-- input { 0.5f64 } output { -0.4705882353f64 -0.4705882353f64 }
-- input { -0.25f64 } output { -0.4923076923f64 -0.4923076923f64 }
entry turned_angle_f64 (x: f64) = of_f64.turned_angle x

-- ==
-- entry: turned_angle_f32
-- input { 0.5f32 } output { -0.4705882f32 -0.4705882f32 }
-- input { -0.25f32 } output { -0.4923077f32 -0.4923077f32 }
entry turned_angle_f32 (x: f32) = of_f32.turned_angle x

-- ==
-- entry: turned_angle_f16
-- input { 0.5f16 } output { -0.4706f16 -0.4706f16 }
-- input { -0.25f16 } output { -0.4923f16 -0.4923f16 }
entry turned_angle_f16 (x: f16) = of_f16.turned_angle x
