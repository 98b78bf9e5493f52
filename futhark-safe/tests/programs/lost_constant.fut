-- A constant whose division overflows: the runtime dies while a context is being set up.

def six = i64.sum (iota 4)

def table = replicate six (i64.lowest / (5 - six))

entry get : []i64 = copy table
