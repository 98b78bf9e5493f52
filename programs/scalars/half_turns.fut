-- Trigonometric functions whose angles are counted in half turns, and the inverse of a square
-- root, are correct for every float type.

module functions_of (F: float) = {
  def values (x: F.t) : [8]F.t =
    [ F.sinpi x
    , F.cospi x
    , F.tanpi x
    , F.asinpi x
    , F.acospi x
    , F.atanpi x
    , F.atan2pi x (F.i32 2)
    , F.rsqrt x
    ]
}

module of_f64 = functions_of f64

-- ==
-- entry: values_f64
-- input { 0.25f64 }
-- output { [0.7071067812f64, 0.7071067812f64, 1.0f64, 0.08043062326f64, 0.4195693767f64,
--   0.07797913038f64, 0.03958342416f64, 2.0f64] }
-- input { 0.125f64 }
-- output { [0.3826834324f64, 0.9238795325f64, 0.4142135624f64, 0.03989308767f64,
--   0.4601069123f64, 0.03958342416f64, 0.01986852431f64, 2.828427125f64] }
entry values_f64 (x: f64) = of_f64.values x

module of_f32 = functions_of f32

-- ==
-- entry: values_f32
-- input { 0.25f32 }
-- output { [0.7071068f32, 0.7071068f32, 1.0f32, 0.08043062f32, 0.4195694f32, 0.07797913f32,
--   0.03958342f32, 2.0f32] }
-- input { 0.125f32 }
-- output { [0.3826834f32, 0.9238795f32, 0.4142136f32, 0.03989309f32, 0.4601069f32,
--   0.03958342f32, 0.01986852f32, 2.828427f32] }
entry values_f32 (x: f32) = of_f32.values x

module of_f16 = functions_of f16

-- ==
-- entry: values_f16
-- input { 0.25f16 }
-- output { [0.7071f16, 0.7071f16, 1.0f16, 0.08043f16, 0.4196f16, 0.07798f16, 0.03958f16, 2.0f16] }
-- input { 0.125f16 }
-- output { [0.3827f16, 0.9239f16, 0.4142f16, 0.03989f16, 0.4601f16, 0.03958f16, 0.01987f16,
--   2.828f16] }
entry values_f16 (x: f16) = of_f16.values x
