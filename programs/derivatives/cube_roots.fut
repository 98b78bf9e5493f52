-- Derivatives of cube roots are correct in forward and in reverse mode, for short float types.

module derivatives_of (F: real) = {
  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def root = both (\x -> F.cbrt x)
}

module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: root_f32
-- input { 0.5f32 } output { 0.5291337f32 0.5291337f32 }
-- input { 8.0f32 } output { 0.08333333f32 0.08333333f32 }
entry root_f32 (x: f32) = of_f32.root x

-- ==
-- entry: root_f16
-- input { 0.5f16 } output { 0.5291f16 0.5291f16 }
-- input { 8.0f16 } output { 0.08333f16 0.08333f16 }
entry root_f16 (x: f16) = of_f16.root x
