-- A slice that starts at a constant size of the program, which is negative, is an error of the call
-- where an element in front of the array is read: the compiler relies on sizes not being negative.
-- Error: an index is negative (plain programs read other memory). (GPU backends: the device reads it.)

-- ==
-- tags { kills no_opencl no_cuda no_hip }
-- entry: at
-- input { 16i64 7i64 } output { 7i64 }
-- input { 0i64 7i64 } error: is negative
-- input { 17i64 7i64 } output { 7i64 }
entry at (i: i64) (x: i64) : i64 =
  let between [a] [b] (xs: []i64) (_: [a]()) (_: [b]()) : []i64 = xs[a:b]
  in (between (opaque (replicate 6 x)) (replicate (-16) ()) (replicate 4 ()))[i]
