-- Test blocks can count constructs of the compiler; the C API promises nothing about these counts,
-- so they are ignored, and the cases before them run.
-- ==
-- input { [1, 2] } output { [2, 3] }
-- structure { Screma 1 }
-- structure gpu { SegMap 1 }
def main (xs: []i32) : []i32 = map (+ 1) xs
