-- A constant whose size overflows: the runtime dies while a context is being set up.

def six = i64.sum (iota 4)

def table = replicate (six << 60) 1i32

entry get : []i32 = copy table
