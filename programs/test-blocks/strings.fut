-- Strings in test blocks are arrays of bytes, in UTF-8, with escapes.

-- ==
-- entry: upper
-- input { "hello" } output { "HELLO" }
-- input { "" } output { "" }
-- input { "a b\n\"c\"\\" } output { "A B\n\"C\"\\" }
-- input { "\65\x62" } output { [65u8, 66u8] }
-- input { "\SOH\SO\DEL\^B" } output { [1u8, 14u8, 127u8, 2u8] }
-- input { [104u8, 105u8] } output { "HI" }
-- input { "å" } output { [195u8, 165u8] }
-- input { empty([0]u8) } output { "" }
entry upper (s: []u8) : []u8 =
  map (\c -> if c >= 97 && c <= 122 then c - 32 else c) s

-- ==
-- entry: words
-- input { "{ not a brace } of ours" ", -- no comment" } output { 38i64 }
entry words (a: []u8) (b: []u8) : i64 = length a + length b
