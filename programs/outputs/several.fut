-- An entry point with several results returns each of them in its position, with its own type,
-- rank and shape, even if there are more results than registers.

-- ==
-- entry: two
-- input { 3 } output { 3 4i64 }
entry two (x: i32) : (i32, i64) = (x, i64.i32 x + 1)

-- ==
-- entry: mixed
-- input { [1f32, 2f32, 3f32] } output { 3i64 6f32 [2f32, 4f32, 6f32] true }
-- input { empty([0]f32) } output { 0i64 0f32 empty([0]f32) false }
entry mixed [n] (xs: [n]f32) : (i64, f32, [n]f32, bool) =
  (n, f32.sum xs, map (* 2) xs, n > 0)

-- ==
-- entry: many
-- input { 1i8 } output { 1i8 2i16 3i32 4i64 5u8 6u16 7u32 8u64 9f16 10f32 11f64 true }
-- input { 0i8 } output { 0i8 1i16 2i32 3i64 4u8 5u16 6u32 7u64 8f16 9f32 10f64 false }
entry many (x: i8) : (i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool) =
  ( x
  , i16.i8 x + 1
  , i32.i8 x + 2
  , i64.i8 x + 3
  , u8.i8 x + 4
  , u16.i8 x + 5
  , u32.i8 x + 6
  , u64.i8 x + 7
  , f16.i8 x + 8
  , f32.i8 x + 9
  , f64.i8 x + 10
  , x != 0
  )

-- ==
-- entry: ranks
-- input { 2i64 } output { 2i64 [0i64, 1i64] [[0i64, 0i64], [0i64, 1i64]] }
-- input { 0i64 } output { 0i64 empty([0]i64) empty([0][0]i64) }
entry ranks (n: i64) : (i64, [n]i64, [n][n]i64) =
  (n, iota n, tabulate_2d n n (\i j -> i * j))

-- Returns a pair whose second component is a pair: one scalar result and one opaque result.
entry nested (x: i32) : (i32, (i32, bool)) = (x, (x + 1, x > 0))

-- ==
-- entry: nested_flat
-- input { 4 } output { 4 5 true }
-- input { -4 } output { -4 -3 false }
entry nested_flat (x: i32) : (i32, i32, bool) =
  let (a, (b, c)) = nested x
  in (a, b, c)
