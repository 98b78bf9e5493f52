-- Tables are computed when the context is created, from loops, scans and other tables, with
-- elements of several types and with sizes that the program computes.

def squares : [10]i64 = map (\i -> i * i) (iota 10)

def sums : [10]i64 = scan (+) 0 squares

def primes : []i64 =
  let sieve =
    loop s = replicate 30 true with [0] = false with [1] = false
    for i in 2..<6 do
      if s[i]
      then scatter s
                   (map (\j -> i * j + i * i) (iota 15))
                   (replicate 15 false)
      else s
  in map (.1) (filter (.0) (zip sieve (iota 30)))

def sines : [5]f64 = map (\i -> f64.sin (f64.i64 i * f64.pi / 4)) (iota 5)

-- ==
-- entry: look
-- input { 3i64 } output { 9i64 14i64 7i64 }
-- input { 9i64 } output { 81i64 285i64 29i64 }
-- input { 10i64 } error: out of bounds
entry look (i: i64) : (i64, i64, i64) = (squares[i], sums[i], primes[i])

-- ==
-- entry: waves
-- input { 2f64 } output { [0.0, 1.4142136, 2.0, 1.4142136, 0.0] }
entry waves (k: f64) : []f64 = map (* k) sines

-- The caller may consume the returned table; the constant does not change.
entry all_primes : []i64 = primes

entry spoiled (xs: *[]i64) : *[]i64 = xs with [0] = 0
