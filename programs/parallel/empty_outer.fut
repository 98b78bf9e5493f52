-- A parallel loop without iterations around another parallel loop returns an empty result and
-- leaks nothing: the context can be freed afterwards.
-- ==
-- entry: sums
-- input { [[1.0f32, 2.0f32], [3.0f32, 4.0f32]] } output { [3.0f32, 7.0f32] }
-- input { empty([0][3]f32) } output { empty([0]f32) }
-- input { empty([3][0]f32) } output { [0.0f32, 0.0f32, 0.0f32] }

entry sums [n] [m] (xss: [n][m]f32) : [n]f32 = map f32.sum xss
