-- A program with the tag `disable` is neither tested nor compiled: this program would not
-- compile.
-- ==
-- tags { disable }
-- input { 1 } output { 2 }
def main (x: i32) : i32 = not_there x
