-- Fields, variants and types keep names that are keywords or have primes, even if the names differ
-- only in characters that other languages do not allow.

type odd = {self: i32, x: i32, x': i32, type': f32, Self: bool, crate: u8, fn: i64}

type odd' = {self: i32, x: i32}

type choice = #self i32 | #fn | #Fn | #x f32

entry make (self: i32) (x: i32) (x': i32) (type': f32) : odd =
  {self, x, x', type', Self = self > 0, crate = 200, fn = i64.i32 x}

entry swap (o: odd) : odd = o with x = o.x' with x' = o.x

entry prime (o: odd) : odd' = {self = o.self, x = o.x'}

entry self (o: odd) : i32 = o.self

entry x' (o: odd') : i32 = o.x

entry choose (i: i32) : choice =
  match i
  case 0 -> #self 1
  case 1 -> #fn
  case 2 -> #Fn
  case _ -> #x 3.5

entry chosen (c: choice) : f32 =
  match c
  case #self i -> f32.i32 i
  case #fn -> 10
  case #Fn -> 20
  case #x v -> v

-- ==
-- entry: fields
-- input { 1 2 3 4f32 } output { 1 3 2 4f32 true 200u8 2i64 }
-- input { -1 2 3 f32.nan } output { -1 3 2 f32.nan false 200u8 2i64 }
entry fields (s: i32) (x: i32) (y: i32) (t: f32) : (i32, i32, i32, f32, bool, u8, i64) =
  let o = swap (make s x y t)
  in (self o, o.x, o.x', o.type', o.Self, o.crate, o.fn)

-- ==
-- entry: primed
-- input { 1 2 3 4f32 } output { 1 3 }
entry primed (s: i32) (x: i32) (y: i32) (t: f32) : (i32, i32) =
  let o = prime (make s x y t)
  in (o.self, x' o)

-- ==
-- entry: variants
-- input { 0 } output { 1f32 }
-- input { 1 } output { 10f32 }
-- input { 2 } output { 20f32 }
-- input { 3 } output { 3.5f32 }
entry variants (i: i32) : f32 = chosen (choose i)
