-- An index that is divided by the number of elements of an empty array is an error of the call. The
-- compiler checks neither the slice nor the division. Error: division by zero. (GPU backends: the
-- device reads other memory.)

-- ==
-- tags { kills no_opencl no_cuda no_hip }
-- entry: rotated
-- input { [1i64, 2i64, 3i64, 4i64, 5i64, 6i64] 1i64 } output { [1i64, 6i64, 5i64, 4i64, 3i64, 2i64] }
-- input { empty([0]i64) 256i64 } error: division by zero
-- input { [1i64, 2i64, 3i64, 4i64, 5i64, 6i64] 0i64 } output { [6i64, 5i64, 4i64, 3i64, 2i64, 1i64] }
entry rotated (xs: []i64) (k: i64) : []i64 = (map (i8.i64 >-> i64.i8) (rotate k xs))[5::-1]
