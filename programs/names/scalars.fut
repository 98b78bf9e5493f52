-- Types can have the names of scalar types. The manifest refers to both by the same name.


type u8 = {low: i32, high: f32}

type i64' = i64

type f64 = #none | #some i32

entry make (low: i32) (high: f32) : u8 = {low, high}

entry low (x: u8) : i32 = x.low

entry many (n: i64) : []u8 = map (\i -> {low = i32.i64 i, high = 0.5}) (iota n)

entry last_low (xs: []u8) : i32 = (last xs).low

entry some (x: i32) : f64 = #some x

entry value (x: f64) : i32 =
  match x
  case #none -> 0
  case #some x -> x

-- ==
-- entry: there_and_back
-- input { 3 0.5f32 4i64 } output { 6 5 }
entry there_and_back (a: i32) (b: f32) (n: i64') : (i32, i32) =
  (low (make a b) + last_low (many n), value (some 5))
