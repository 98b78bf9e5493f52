-- The compiler cannot parse this program, as its test block expects.
-- ==
-- error: [Uu]nexpected
entry main (x: i32) : i32 = = x
