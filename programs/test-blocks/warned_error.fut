-- The compiler must reject this program; it prints warnings before the error.
-- ==
-- error: Unknown name "?nowhere"?
def unused (x: i32) : i32 = let y = x + 1 in x

entry main (x: i32) : i32 = let z = x in nowhere x
