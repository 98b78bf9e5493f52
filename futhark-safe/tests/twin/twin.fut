-- Same file name and entry point as the other crate's program, another answer.

type same = { value: i64 }

entry answer (x: i64) : i64 = x + 1000

entry make (value: i64) : same = { value }

entry take (s: same) : i64 = s.value * 1000
