-- NaNs keep their bits, as in C, whether they are quiet, signalling or have another
-- payload.

-- ==
-- entry: bits
-- input { [31745u16, 32256u16, 32257u16, 65025u16, 65534u16, 65535u16] }
-- output { [31745u16, 32256u16, 32257u16, 65025u16, 65534u16, 65535u16] }
-- input { empty([0]u16) } output { empty([0]u16) }
entry bits [n] (xs: [n]u16) : [n]u16 = map (\x -> f16.to_bits (f16.from_bits x)) xs

-- The same conversions without a loop.
-- ==
-- entry: bits_of_one
-- input { 31744u16 } output { 31744u16 }
-- input { 32256u16 } output { 32256u16 }
-- input { 31745u16 } output { 31745u16 }
-- input { 65534u16 } output { 65534u16 }
entry bits_of_one (x: u16) : u16 = f16.to_bits (f16.from_bits x)
