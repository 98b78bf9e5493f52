-- Derivatives of error functions are correct in forward and in reverse mode, for every float type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [2]F.t =
    [ F.erf x
    , F.erfc x
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 2 (\i -> vjp functions x (tabulate 2 (\j -> F.bool (i == j))))
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 } output { [0.8787825789f64, -0.8787825789f64] }
-- input { 1.5f64 } output { [0.1189302892f64, -0.1189302892f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 } output { [0.8787825789f64, -0.8787825789f64] }
-- input { 1.5f64 } output { [0.1189302892f64, -0.1189302892f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 } output { [0.8787826f32, -0.8787826f32] }
-- input { 1.5f32 } output { [0.1189303f32, -0.1189303f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 } output { [0.8787826f32, -0.8787826f32] }
-- input { 1.5f32 } output { [0.1189303f32, -0.1189303f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 } output { [0.8788f16, -0.8788f16] }
-- input { 1.5f16 } output { [0.1189f16, -0.1189f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 } output { [0.8788f16, -0.8788f16] }
-- input { 1.5f16 } output { [0.1189f16, -0.1189f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x
