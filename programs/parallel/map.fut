-- A parallel loop with enough work for several workers returns the same elements as a sequential
-- program.

def collatz (start: i64) : i64 =
  let (_, steps) =
    loop (x, steps) = (start, 0)
    while x > 1 do
      (if x % 2 == 0 then x / 2 else 3 * x + 1, steps + 1)
  in steps

-- ==
-- entry: longest
-- input { 1i64 } output { 0i64 }
-- input { 30i64 } output { 111i64 }
-- input { 1000i64 } output { 178i64 }
entry longest (n: i64) : i64 = i64.maximum (map (\i -> collatz (i + 1)) (iota n))

-- ==
-- entry: steps
-- input { 8i64 } output { [0i64, 1i64, 7i64, 2i64, 5i64, 8i64, 16i64, 3i64] }
-- input { 0i64 } output { empty([0]i64) }
entry steps (n: i64) : []i64 = map (\i -> collatz (i + 1)) (iota n)

-- Many cheap iterations.
-- ==
-- entry: mixed_sum
-- input { 0i64 } output { 0u32 }
-- input { 100000i64 } output { 3276760359u32 }
entry mixed_sum (n: i64) : u32 =
  let mix i = (u32.i64 i * 2654435761) >> 16
  in u32.sum (map mix (iota n))
