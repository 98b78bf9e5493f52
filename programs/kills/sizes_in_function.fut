-- Allocating an array of negative size, of a size in bytes that does not fit in 64 bits, or larger
-- than any memory, in a function that a worker calls, is an error of the call and ends neither the
-- worker nor the process. Error: invalid size, size overflow or out of memory.

#[noinline]
def fill (n: i64) (x: i64) : []i64 = replicate n x

def work (n: i64) (x: i64) : i64 = loop acc = 0 for y in fill n x do acc * 3 + y

-- Iteration `bad` allocates `size` elements, every other iteration eight.
-- ==
-- tags { kills no_opencl no_cuda no_hip }
-- entry: one_bad
-- input { 4000i64 -1i64 8i64 } output { 26233440000i64 }
-- input { 4000i64 0i64 -5i64 } error: .*
-- input { 4000i64 3999i64 -5i64 } error: .*
-- input { 4000i64 2100i64 -9223372036854775808i64 } error: .*
-- input { 4000i64 -1i64 8i64 } output { 26233440000i64 }
-- input { 4000i64 0i64 4611686018427387904i64 } error: .*
-- input { 4000i64 3999i64 4611686018427387904i64 } error: .*
-- input { 4000i64 2100i64 2305843009213693952i64 } error: .*
-- input { 4000i64 -1i64 8i64 } output { 26233440000i64 }
-- input { 4000i64 0i64 70368744177664i64 } error: .*
-- input { 4000i64 3999i64 70368744177664i64 } error: .*
-- input { 4000i64 2100i64 1125899906842624i64 } error: .*
-- input { 4000i64 -1i64 8i64 } output { 26233440000i64 }
entry one_bad (n: i64) (bad: i64) (size: i64) : i64 =
  i64.sum (map (\i -> work (if i == bad then size else 8) i) (iota n))
