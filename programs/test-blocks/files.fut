-- Test blocks can read files next to the program: text, the binary format, and compressed files.
-- The binary files were written by hand: two numbers of type i32, and three of type f64.

-- ==
-- entry: doubled
-- input @ three.in output { [10, 12, 14] }
-- input @ numbers.in output { [2, -4] }
-- input @ packed.in.gz output { [2, -4] }
-- input { [5, 6, 7] } output @ doubled.out
-- input { [1, -2] } output @ doubled_binary.out
entry doubled (xs: []i32) : []i32 = map (* 2) xs

-- ==
-- entry: mixed
-- input @ mixed.in output { 3i64 6.5f64 true }
entry mixed (n: i64) (xs: []f64) (b: bool) : (i64, f64, bool) = (n, f64.sum xs, b)
