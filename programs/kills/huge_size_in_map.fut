-- An array whose size in bytes does not fit in 64 bits, allocated in a parallel loop, is an error
-- of the call on any worker. Error: size overflow. (Not run on GPU backends: the size wraps on the
-- device, and the kernel does not end.)

def work (n: i64) (x: i64) : i64 =
  let xs = replicate n x
  let ys = loop xs for i < i64.min n 8 - 1 do xs with [(i * 7) % n] = xs[i] + i
  in ys[n - 1]

-- Iteration `bad` allocates `size` elements, every other iteration eight.
-- ==
-- tags { kills no_opencl no_cuda no_hip }
-- entry: one_bad
-- input { 4000i64 -1i64 8i64 } output { 8002000i64 }
-- input { 4000i64 0i64 4611686018427387904i64 } error: .*
-- input { 4000i64 3999i64 2305843009213693952i64 } error: .*
-- input { 4000i64 2100i64 9223372036854775807i64 } error: .*
-- input { 4000i64 -1i64 8i64 } output { 8002000i64 }
entry one_bad (n: i64) (bad: i64) (size: i64) : i64 =
  i64.sum (map (\i -> work (if i == bad then size else 8) i) (iota n))
