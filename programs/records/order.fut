-- Fields are matched by name: many fields of one type have the same order everywhere, although
-- their names sort differently by case, digits and length.

type ordered = {b: i32, a: i32, a1: i32, a10: i32, a2: i32, ab: i32, a_b: i32}

entry make (a: i32) (a1: i32) (a10: i32) (a2: i32) (ab: i32) (a_b: i32) (b: i32) : ordered =
  {a, a1, a10, a2, ab, a_b, b}

entry shift (r: ordered) : ordered =
  { a = r.b
  , a1 = r.a
  , a10 = r.a1
  , a2 = r.a10
  , ab = r.a2
  , a_b = r.ab
  , b = r.a_b
  }

entry get_a10 (r: ordered) : i32 = r.a10

entry get_a_b (r: ordered) : i32 = r.a_b

-- ==
-- entry: shifted
-- input { 1 2 3 4 5 6 7 } output { 7 1 2 3 4 5 6 }
entry shifted (a: i32)
              (a1: i32)
              (a10: i32)
              (a2: i32)
              (ab: i32)
              (a_b: i32)
              (b: i32) : (i32, i32, i32, i32, i32, i32, i32) =
  let r = shift (make a a1 a10 a2 ab a_b b)
  in (r.a, r.a1, r.a10, r.a2, r.ab, r.a_b, r.b)
