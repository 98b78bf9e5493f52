-- An array of sums of rank 2. Apart from those of rank 1: Futhark 0.25.27 cannot compile both.

type colour = #grey | #named i32

entry square (n: i64) (m: i64) : [n][m]colour =
  tabulate_2d n m (\i j -> if i == j then #grey else #named (i32.i64 (10 * i + j)))
