-- A program with the tag `disable` is not tested at all, not even compiled: this one could
-- not be.
-- ==
-- tags { disable }
-- input { 1 } output { 2 }
def main (x: i32) : i32 = not_there x
