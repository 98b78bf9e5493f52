-- Computes random numbers, each from its index, and a Monte Carlo estimate: the numbers are the
-- same for any backend, order and number of threads.

-- A hash of 32 bits: multiplications that wrap, and shifts.
def hash (x: u32) : u32 =
  let x = (x ^ (x >> 16)) * 0x45d9f3b
  let x = (x ^ (x >> 16)) * 0x45d9f3b
  in x ^ (x >> 16)

-- ==
-- entry: numbers
-- input { 4i64 } output { [0u32, 824515495u32, 1722258072u32, 3753300549u32] }
-- input { 0i64 } output { empty([0]u32) }
entry numbers (n: i64) : [n]u32 = map (\i -> hash (u32.i64 i)) (iota n)

def unit (x: u32) : f64 = f64.u32 (hash x) / 4294967296

-- ==
-- entry: near_pi
-- input { 4000i64 } output { true }
entry near_pi (n: i64) : bool =
  let inside i =
    let x = unit (2 * u32.i64 i + 1)
    let y = unit (2 * u32.i64 i + 2)
    in i64.bool (x * x + y * y <= 1)
  let pi = 4 * f64.i64 (i64.sum (map inside (iota n))) / f64.i64 n
  in pi > 3.0 && pi < 3.3
