-- Counts of the compiler's constructs in a test block are not a promise of the C API: they are
-- ignored, and the cases before them run.
-- ==
-- input { [1, 2] } output { [2, 3] }
-- structure { Screma 1 }
-- structure gpu { SegMap 1 }
def main (xs: []i32) : []i32 = map (+ 1) xs
