-- A sum with one variant and no payload may be an argument.

type only = #only

entry make (_: i32) : only = #only

entry number (x: only) : i32 = match x case #only -> 7

-- ==
-- entry: numbered
-- input { 1 } output { 7 }
entry numbered (n: i32) : i32 = number (make n)
