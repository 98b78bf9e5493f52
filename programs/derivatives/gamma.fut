-- Derivatives of the gamma function and of its logarithm are correct in forward and in reverse
-- mode.

module derivatives_of (F: real) = {
  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def gamma = both (\x -> F.gamma x)

  def logarithm = both (\x -> F.lgamma x)
}

module of_f64 = derivatives_of f64

-- ==
-- entry: gamma_f64
-- input { 0.5f64 } output { -3.480230907f64 -3.480230907f64 }
-- input { 2.5f64 } output { 0.9347345216f64 0.9347345216f64 }
entry gamma_f64 (x: f64) = of_f64.gamma x

-- ==
-- entry: logarithm_f64
-- input { 0.5f64 } output { -1.963510026f64 -1.963510026f64 }
-- input { 2.5f64 } output { 0.7031566406f64 0.7031566406f64 }
entry logarithm_f64 (x: f64) = of_f64.logarithm x
