-- Derivatives of functions with steps and corners are correct in forward and in reverse mode, for
-- every float type: zero where a function is constant, and the slope of the chosen side.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [10]F.t =
    [ F.floor x
    , F.ceil x
    , F.round x
    , F.sgn x
    , F.abs x
    , F.min x (F.i32 1)
    , F.max x (F.i32 1)
    , F.min (F.i32 1) x
    , if x F.< F.i32 1 then x F.* x else F.neg x
    , x F.% F.i32 2
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 10 (\i -> vjp functions x (tabulate 10 (\j -> F.bool (i == j))))
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, 1.0f64, 1.0f64, 0.0f64, 1.0f64, 1.0f64, 1.0f64] }
-- input { 1.75f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, 1.0f64, 0.0f64, 1.0f64, 0.0f64, -1.0f64, 1.0f64] }
-- input { -0.25f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, -1.0f64, 1.0f64, 0.0f64, 1.0f64, -0.5f64, 1.0f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, 1.0f64, 1.0f64, 0.0f64, 1.0f64, 1.0f64, 1.0f64] }
-- input { 1.75f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, 1.0f64, 0.0f64, 1.0f64, 0.0f64, -1.0f64, 1.0f64] }
-- input { -0.25f64 }
-- output { [0.0f64, 0.0f64, 0.0f64, 0.0f64, -1.0f64, 1.0f64, 0.0f64, 1.0f64, -0.5f64, 1.0f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, 1.0f32, 1.0f32, 0.0f32, 1.0f32, 1.0f32, 1.0f32] }
-- input { 1.75f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, 1.0f32, 0.0f32, 1.0f32, 0.0f32, -1.0f32, 1.0f32] }
-- input { -0.25f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, -1.0f32, 1.0f32, 0.0f32, 1.0f32, -0.5f32, 1.0f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, 1.0f32, 1.0f32, 0.0f32, 1.0f32, 1.0f32, 1.0f32] }
-- input { 1.75f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, 1.0f32, 0.0f32, 1.0f32, 0.0f32, -1.0f32, 1.0f32] }
-- input { -0.25f32 }
-- output { [0.0f32, 0.0f32, 0.0f32, 0.0f32, -1.0f32, 1.0f32, 0.0f32, 1.0f32, -0.5f32, 1.0f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, 1.0f16, 1.0f16, 0.0f16, 1.0f16, 1.0f16, 1.0f16] }
-- input { 1.75f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, 1.0f16, 0.0f16, 1.0f16, 0.0f16, -1.0f16, 1.0f16] }
-- input { -0.25f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, -1.0f16, 1.0f16, 0.0f16, 1.0f16, -0.5f16, 1.0f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, 1.0f16, 1.0f16, 0.0f16, 1.0f16, 1.0f16, 1.0f16] }
-- input { 1.75f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, 1.0f16, 0.0f16, 1.0f16, 0.0f16, -1.0f16, 1.0f16] }
-- input { -0.25f16 }
-- output { [0.0f16, 0.0f16, 0.0f16, 0.0f16, -1.0f16, 1.0f16, 0.0f16, 1.0f16, -0.5f16, 1.0f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x
