-- If a constant has a negative size, creating a context returns an error, and the process and its
-- other programs continue. Error: invalid size.

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
