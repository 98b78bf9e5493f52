-- A program with the tag `disable` is not tested and not even compiled: this one does not
-- compile.
-- ==
-- tags { disable }
-- input { 1 } output { 2 }
def main (x: i32) : i32 = not_there x
