-- Bit operations are correct for types of several widths: shifts with and without the sign,
-- counts, and rotations composed of shifts.

-- ==
-- entry: shifts
-- input { -8i32 1i32 } output { -16i32 -4i32 2147483644i32 }
-- input { 1i32 31i32 } output { -2147483648i32 0i32 0i32 }
entry shifts (x: i32) (n: i32) : (i32, i32, i32) = (x << n, x >> n, i32.u32 (u32.i32 x >> u32.i32 n))

-- ==
-- entry: counts
-- input { 0b1011u8 0u16 -1i64 } output { 3i32 16i32 64i32 4i32 0i32 }
entry counts (a: u8) (b: u16) (c: i64) : (i32, i32, i32, i32, i32) =
  (u8.popc a, u16.ctz b, i64.popc c, u8.clz a, i64.clz c)

-- ==
-- entry: rotated
-- input { 0x12345678u32 8u32 } output { 0x34567812u32 }
-- input { 1u32 0u32 } output { 1u32 }
entry rotated (x: u32) (n: u32) : u32 = if n == 0 then x else (x << n) | (x >> (32 - n))

-- ==
-- entry: logic
-- input { 0b1100u8 0b1010u8 } output { 0b1000u8 0b1110u8 0b0110u8 0b11110011u8 }
entry logic (a: u8) (b: u8) : (u8, u8, u8, u8) = (a & b, a | b, a ^ b, !a)
