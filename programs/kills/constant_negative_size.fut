-- A program with a constant of negative size gives no context, but an error; the
-- process, in which other programs may run, lives. Error: invalid size.

def amounts : [3]i64 = [4, -9, 2]

def balance : i64 = i64.sum amounts

def slots : []i32 = replicate balance 7

-- ==
-- tags { kills }
-- entry: get
-- input { } error: .*
entry get : []i32 = copy slots

-- ==
-- entry: unrelated
-- input { 1i64 } error: .*
entry unrelated (x: i64) : i64 = x
