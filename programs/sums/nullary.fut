-- The variants of a sum without payloads can be created, distinguished and returned; they are
-- numbered alphabetically, whatever their order in the source is.

type suit = #spades | #hearts | #diamonds | #clubs

type single = #only

entry suit_of (i: i32) : suit =
  match i
  case 0 -> #clubs
  case 1 -> #diamonds
  case 2 -> #hearts
  case _ -> #spades

entry next (s: suit) : suit =
  match s
  case #clubs -> #diamonds
  case #diamonds -> #hearts
  case #hearts -> #spades
  case #spades -> #clubs

entry rank (s: suit) : i32 =
  match s
  case #clubs -> 0
  case #diamonds -> 1
  case #hearts -> 2
  case #spades -> 3

entry same (s: suit) : suit = s

entry equal (s: suit) (t: suit) : bool = s == t

entry single_of (_: i32) : single = #only

entry is_only (s: single) : bool = match s case #only -> true

-- ==
-- entry: successor
-- input { 0 } output { 1 }
-- input { 1 } output { 2 }
-- input { 2 } output { 3 }
-- input { 3 } output { 0 }
-- input { -7 } output { 0 }
entry successor (i: i32) : i32 = rank (same (next (suit_of i)))

-- ==
-- entry: compare
-- input { 0 0 } output { true }
-- input { 0 3 } output { false }
-- input { 3 99 } output { true }
entry compare (i: i32) (j: i32) : bool = equal (suit_of i) (suit_of j)

-- ==
-- entry: one_variant
-- input { 0 } output { true }
entry one_variant (i: i32) : bool = is_only (single_of i)
