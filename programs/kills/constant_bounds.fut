-- If a constant indexes out of bounds in a parallel loop, creating a context returns an error.
-- Error: program error.

def table : [3]i32 = [1, 2, 3]

def shifted : [3]i32 = map (\i -> table[i + i64.i32 table[0]]) (iota 3)

-- ==
-- tags { kills }
-- entry: get
-- input { 0i64 } error: .*
-- input { 2i64 } error: .*
entry get (i: i64) : i32 = shifted[i]
