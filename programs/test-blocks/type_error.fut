-- The compiler must reject this program, with a part of the type checker's message.
-- ==
-- error: Unknown name "?nowhere"?
def main (x: i32) : i32 = nowhere x
