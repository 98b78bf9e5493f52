-- bool scalars are passed and returned as true or false, never as another value.

-- ==
-- entry: id_bool
-- input { true } output { true }
-- input { false } output { false }
entry id_bool (x: bool) : bool = x

-- ==
-- entry: connectives
-- input { true true } output { true true false }
-- input { true false } output { false true true }
-- input { false true } output { false true true }
-- input { false false } output { false false false }
entry connectives (x: bool) (y: bool) : (bool, bool, bool) = (x && y, x || y, x != y)

-- ==
-- entry: to_integers
-- input { true } output { 1i8 1i64 1u8 1f64 }
-- input { false } output { 0i8 0i64 0u8 0f64 }
entry to_integers (x: bool) : (i8, i64, u8, f64) =
  (i8.bool x, i64.bool x, u8.bool x, f64.bool x)

-- ==
-- entry: choose
-- input { true 1i64 2i64 } output { 1i64 }
-- input { false 1i64 2i64 } output { 2i64 }
entry choose (c: bool) (x: i64) (y: i64) : i64 = if c then x else y
