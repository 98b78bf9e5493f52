-- If an assertion in a constant fails, creating a context returns an error with the program's
-- message. Error: program error.

def limit : i64 = i64.sum (iota 4)

def checked : i64 = assert (limit > 6) limit

-- ==
-- tags { kills }
-- entry: get
-- input { 1i64 } error: .*
-- input { 2i64 } error: .*
entry get (x: i64) : i64 = checked + x

-- ==
-- entry: unrelated
-- input { 1i64 } error: .*
entry unrelated (x: i64) : i64 = x
