-- A constant that cannot be computed, so no context of this program can start.

def limits = iota 4

def bad = map (\i -> 12 / i) limits

entry get (i: i64) : i64 = bad[i]
