-- A program that the compiler cannot parse, as its test block expects.
-- ==
-- error: [Uu]nexpected
entry main (x: i32) : i32 = = x
