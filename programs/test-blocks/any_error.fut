-- A program that must not compile, whatever the compiler says.
-- ==
-- error:
entry main (x: i32) : bool = x
