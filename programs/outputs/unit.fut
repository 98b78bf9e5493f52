-- The unit type works as a parameter, as a result, as an array element, and as the only result of
-- an entry point, for which the C function has no output parameter.

entry unit (u: ()) : () = u

entry make_unit (_: i32) : () = ()

entry units (n: i64) : []() = replicate n ()

entry count_units [n] (_: [n]()) : i64 = n

entry with_unit (x: i32) (u: ()) : (i32, ()) = (x, u)

-- ==
-- entry: take_apart
-- input { 3i64 } output { 3i64 7i32 }
-- input { 0i64 } output { 0i64 7i32 }
entry take_apart (n: i64) : (i64, i32) =
  let (x, _) = with_unit 7 (unit (make_unit 1))
  in (count_units (units n), x)
