-- A program that must not compile, with any error.
-- ==
-- error:
entry main (x: i32) : bool = x
