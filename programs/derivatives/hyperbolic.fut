-- Derivatives of hyperbolic functions are correct in forward and in reverse mode, for every float
-- type.

module derivatives_of (F: real) = {
  def functions (x: F.t) : [5]F.t =
    [ F.sinh x
    , F.cosh x
    , F.tanh x
    , F.asinh x
    , F.acosh (x F.+ F.i32 2)
    ]

  def forward (x: F.t) = jvp functions x (F.i32 1)

  def reverse (x: F.t) =
    tabulate 5 (\i -> vjp functions x (tabulate 5 (\j -> F.bool (i == j))))

  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def inverse_tangent = both (\x -> F.atanh x)
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: forward_f64
-- input { 0.5f64 }
-- output { [1.127625965f64, 0.5210953055f64, 0.786447733f64, 0.894427191f64, 0.4364357805f64] }
-- input { -0.25f64 }
-- output { [1.0314131f64, -0.2526123168f64, 0.9400148488f64, 0.9701425001f64, 0.6963106238f64] }
entry forward_f64 (x: f64) = of_f64.forward x

-- ==
-- entry: reverse_f64
-- input { 0.5f64 }
-- output { [1.127625965f64, 0.5210953055f64, 0.786447733f64, 0.894427191f64, 0.4364357805f64] }
-- input { -0.25f64 }
-- output { [1.0314131f64, -0.2526123168f64, 0.9400148488f64, 0.9701425001f64, 0.6963106238f64] }
entry reverse_f64 (x: f64) = of_f64.reverse x

-- ==
-- entry: forward_f32
-- input { 0.5f32 }
-- output { [1.127626f32, 0.5210953f32, 0.7864477f32, 0.8944272f32, 0.4364358f32] }
-- input { -0.25f32 }
-- output { [1.031413f32, -0.2526123f32, 0.9400148f32, 0.9701425f32, 0.6963106f32] }
entry forward_f32 (x: f32) = of_f32.forward x

-- ==
-- entry: reverse_f32
-- input { 0.5f32 }
-- output { [1.127626f32, 0.5210953f32, 0.7864477f32, 0.8944272f32, 0.4364358f32] }
-- input { -0.25f32 }
-- output { [1.031413f32, -0.2526123f32, 0.9400148f32, 0.9701425f32, 0.6963106f32] }
entry reverse_f32 (x: f32) = of_f32.reverse x

-- ==
-- entry: forward_f16
-- input { 0.5f16 } output { [1.128f16, 0.5211f16, 0.7864f16, 0.8944f16, 0.4364f16] }
-- input { -0.25f16 } output { [1.031f16, -0.2526f16, 0.94f16, 0.9701f16, 0.6963f16] }
entry forward_f16 (x: f16) = of_f16.forward x

-- ==
-- entry: reverse_f16
-- input { 0.5f16 } output { [1.128f16, 0.5211f16, 0.7864f16, 0.8944f16, 0.4364f16] }
-- input { -0.25f16 } output { [1.031f16, -0.2526f16, 0.94f16, 0.9701f16, 0.6963f16] }
entry reverse_f16 (x: f16) = of_f16.reverse x

-- ==
-- entry: inverse_tangent_f64
-- input { 0.5f64 } output { 1.333333333f64 1.333333333f64 }
-- input { -0.25f64 } output { 1.066666667f64 1.066666667f64 }
entry inverse_tangent_f64 (x: f64) = of_f64.inverse_tangent x

-- ==
-- entry: inverse_tangent_f32
-- input { 0.5f32 } output { 1.333333f32 1.333333f32 }
-- input { -0.25f32 } output { 1.066667f32 1.066667f32 }
entry inverse_tangent_f32 (x: f32) = of_f32.inverse_tangent x

-- ==
-- entry: inverse_tangent_f16
-- input { 0.5f16 } output { 1.333f16 1.333f16 }
-- input { -0.25f16 } output { 1.067f16 1.067f16 }
entry inverse_tangent_f16 (x: f16) = of_f16.inverse_tangent x
