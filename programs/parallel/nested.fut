-- Nested parallel loops are correct if they are regular, if each iteration has private memory, and
-- if many iterations update one array.

-- ==
-- entry: row_sums
-- input { 100i64 100i64 } output { 474000i64 495000i64 268493i64 }
-- input { 0i64 5i64 } output { 0i64 0i64 0i64 }
-- input { 5i64 0i64 } output { 0i64 0i64 0i64 }
entry row_sums (n: i64) (m: i64) : (i64, i64, i64) =
  let sums = map (\i -> i64.sum (map (\j -> i * j % (i + 1)) (iota m))) (iota n)
  let plain = map (\i -> i64.sum (replicate m i)) (iota n)
  let squares = map (\i -> i64.sum (map (\j -> (i * j) % 100) (iota m))) (iota n)
  in (i64.sum squares, i64.sum plain, i64.sum sums)

-- Each iteration fills its own array, which the compiler cannot fuse away.
-- ==
-- entry: sieve_each
-- input { [10i64, 30i64, 100i64] } output { [4i64, 10i64, 25i64] }
-- input { [2i64] } output { [0i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
entry sieve_each [n] (limits: [n]i64) : [n]i64 =
  let primes_below limit =
    let flags =
      loop flags = replicate 100 true
      for i in 2..<10 do
        loop flags for k < 99 / i - 1 do flags with [(k + 2) * i] = false
    in i64.sum (map (\i -> i64.bool (i > 1 && i < limit && flags[i])) (iota 100))
  in map primes_below limits

-- ==
-- entry: count_remainders
-- input { 20000i64 } output { [6667i64, 6667i64, 6666i64] }
-- input { 0i64 } output { [0i64, 0i64, 0i64] }
entry count_remainders (n: i64) : [3]i64 =
  hist (+) 0 3 (map (% 3) (iota n)) (replicate n 1)

-- ==
-- entry: compact
-- input { 20000i64 } output { 2000i64 0i64 19990i64 }
entry compact (n: i64) : (i64, i64, i64) =
  let xs = filter (\x -> x % 10 == 0) (iota n)
  in (length xs, head xs, last xs)
