-- The tested compilers take the memory of a consumed argument for the result of a concatenation that begins with it, and write the
-- other parts past its end. The tag excludes the program from `futhark test`, which would die.

-- ==
-- tags { kills }
-- entry: append
-- input { [1i32, 2i32] [3i32] } error: appended to an argument
-- input { empty([0]i32) [3i32] } error: appended to an argument
-- input { [1i32, 2i32] empty([0]i32) } output { [1i32, 2i32] }
entry append (xs: *[]i32) (ys: []i32) : []i32 = xs ++ ys

-- ==
-- entry: append_to_copy
-- input { [1i32, 2i32] [3i32] } error: appended to an argument
entry append_to_copy (xs: *[]i32) (ys: []i32) : []i32 = copy xs ++ ys

-- ==
-- entry: append_rows
-- input { [[1i32, 2i32]] [[3i32, 4i32]] } error: appended to an argument
entry append_rows [n] (xs: *[][n]i32) (ys: [][n]i32) : [][n]i32 = xs ++ ys

-- ==
-- entry: prepend
-- input { [1i32, 2i32] [3i32] } output { [3i32, 1i32, 2i32] }
entry prepend (xs: *[]i32) (ys: []i32) : []i32 = ys ++ xs

-- ==
-- entry: append_to_read
-- input { [1i32, 2i32] [3i32] } output { [1i32, 2i32, 3i32] }
entry append_to_read (xs: []i32) (ys: []i32) : []i32 = xs ++ ys
