-- Matching on sums, on sums within sums, on pairs of sums and in parallel loops selects the
-- correct branch for every combination of variants.

type colour = #red | #green | #blue

type token = #number i32 | #plus | #minus | #paint colour

entry number (x: i32) : token = #number x

entry plus : token = #plus

entry minus : token = #minus

entry paint (i: i32) : token =
  #paint (if i == 0 then #red else if i == 1 then #green else #blue)

-- ==
-- entry: worth
-- script input { number 5 } output { 5 }
-- script input { plus } output { 1000 }
-- script input { minus } output { -1000 }
-- script input { paint 0 } output { 1 }
-- script input { paint 1 } output { 2 }
-- script input { paint 7 } output { 3 }
entry worth (t: token) : i32 =
  match t
  case #number x -> x
  case #plus -> 1000
  case #minus -> -1000
  case #paint #red -> 1
  case #paint #green -> 2
  case #paint #blue -> 3

-- ==
-- entry: pair
-- script input { (number 2, number 3) } output { 5 }
-- script input { (plus, number 3) } output { 3 }
-- script input { (minus, paint 1) } output { 0 }
entry pair (a: token) (b: token) : i32 =
  match (a, b)
  case (#number x, #number y) -> x + y
  case (_, #number y) -> y
  case (#number x, _) -> x
  case _ -> 0

-- ==
-- entry: total
-- input { [3, -1, 0, 4] } output { 5 }
-- input { empty([0]i32) } output { 0 }
entry total (xs: []i32) : i32 =
  i32.sum (map (\x -> worth (if x < 0 then #paint #green else if x == 0 then #paint #blue else #number x)) xs)
  - 3 * i32.sum (map (\x -> i32.bool (x == 0)) xs)
  - 4 * i32.sum (map (\x -> i32.bool (x < 0)) xs)
