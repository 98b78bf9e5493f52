-- The compiler must reject this program, with any error.
-- ==
-- error:
entry main (x: i32) : bool = x
