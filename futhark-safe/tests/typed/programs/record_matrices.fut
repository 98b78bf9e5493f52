-- Arrays of records of rank 2. Apart from those of rank 1: Futhark 0.25.27 cannot compile both.

type pixel = {r: u8, g: u8, deep: {weight: f32}}

entry gradient (h: i64) (w: i64) : [h][w]pixel =
  tabulate_2d h w (\y x -> {r = u8.i64 x, g = u8.i64 y, deep = {weight = f32.i64 (x * y)}})

entry flip [h] [w] (image: [h][w]pixel) : [w][h]pixel = transpose image
