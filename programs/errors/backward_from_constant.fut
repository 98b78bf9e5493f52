-- A slice backwards that begins at a constant is compared with the length of the array. The tag
-- excludes the program from `futhark test`: compilers lose the comparison, and read other memory.

-- ==
-- tags { kills }
-- entry: backwards
-- input { [1, 2, 3] } error: out of bounds
-- input { [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } output { [9, 8, 7, 6, 5, 4, 3, 2, 1] }
entry backwards (xs: []i32) : []i32 = xs[8::-1]
