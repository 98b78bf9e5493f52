-- A variant whose name has a prime is distinct from the variant without it. (Known not to hold:
-- the compilers write the prime into the names of C functions.)

type choice = #x f32 | #x' f32

entry choose (i: i32) : choice = if i == 0 then #x 1.5 else #x' 2.5

entry chosen (c: choice) : f32 = match c case #x v -> v case #x' v -> v

-- ==
-- entry: variants
-- input { 0 } output { 1.5f32 }
-- input { 1 } output { 2.5f32 }
entry variants (i: i32) : f32 = chosen (choose i)
