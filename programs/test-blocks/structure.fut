-- Counts of the compiler's constructs in a test block are no promise of the C API: they are
-- passed over, and the cases before them are run.
-- ==
-- input { [1, 2] } output { [2, 3] }
-- structure { Screma 1 }
-- structure gpu { SegMap 1 }
def main (xs: []i32) : []i32 = map (+ 1) xs
