-- Derivatives of functions of the bits of floats are correct in forward and in reverse mode: the
-- sign and the exponent are factors.

module derivatives_of (F: float) = {
  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def signed = both (\x -> F.copysign x (F.i32 (-1)))

  def scaled = both (\x -> F.ldexp x 3)
}

module of_f64 = derivatives_of f64
module of_f32 = derivatives_of f32
module of_f16 = derivatives_of f16

-- ==
-- entry: signed_f64
-- input { 0.5f64 } output { -1.0f64 -1.0f64 }
-- input { -2.0f64 } output { 1.0f64 1.0f64 }
entry signed_f64 (x: f64) = of_f64.signed x

-- ==
-- entry: signed_f32
-- input { 0.5f32 } output { -1.0f32 -1.0f32 }
-- input { -2.0f32 } output { 1.0f32 1.0f32 }
entry signed_f32 (x: f32) = of_f32.signed x

-- ==
-- entry: signed_f16
-- input { 0.5f16 } output { -1.0f16 -1.0f16 }
-- input { -2.0f16 } output { 1.0f16 1.0f16 }
entry signed_f16 (x: f16) = of_f16.signed x

-- ==
-- entry: scaled_f64
-- input { 0.5f64 } output { 8.0f64 8.0f64 }
-- input { -2.0f64 } output { 8.0f64 8.0f64 }
entry scaled_f64 (x: f64) = of_f64.scaled x

-- ==
-- entry: scaled_f32
-- input { 0.5f32 } output { 8.0f32 8.0f32 }
-- input { -2.0f32 } output { 8.0f32 8.0f32 }
entry scaled_f32 (x: f32) = of_f32.scaled x

-- ==
-- entry: scaled_f16
-- input { 0.5f16 } output { 8.0f16 8.0f16 }
-- input { -2.0f16 } output { 8.0f16 8.0f16 }
entry scaled_f16 (x: f16) = of_f16.scaled x
