-- Derivatives of cube roots of the longest float type are correct in forward and in reverse mode.

module derivatives_of (F: real) = {
  def both f (x: F.t) : (F.t, F.t) = (jvp f x (F.i32 1), vjp f x (F.i32 1))

  def root = both (\x -> F.cbrt x)
}

module of_f64 = derivatives_of f64

-- ==
-- entry: root_f64
-- input { 0.5f64 } output { 0.529133684f64 0.529133684f64 }
-- input { 8.0f64 } output { 0.08333333333f64 0.08333333333f64 }
entry root_f64 (x: f64) = of_f64.root x
