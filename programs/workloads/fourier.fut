-- Computes the discrete Fourier transform by halving: complex numbers as records, an array that is
-- rearranged in every step, and the inverse, which returns the input.

type complex = {re: f64, im: f64}

def add (a: complex) (b: complex) : complex = {re = a.re + b.re, im = a.im + b.im}
def sub (a: complex) (b: complex) : complex = {re = a.re - b.re, im = a.im - b.im}

def mul (a: complex) (b: complex) : complex =
  {re = a.re * b.re - a.im * b.im, im = a.re * b.im + a.im * b.re}

def root (sign: f64) (k: i64) (n: i64) : complex =
  let angle = sign * 2 * f64.pi * f64.i64 k / f64.i64 n
  in {re = f64.cos angle, im = f64.sin angle}

-- Stockham's algorithm, which needs no bit reversal.
def transform [n] (sign: f64) (xs: [n]complex) : [n]complex =
  let (xs, _) =
    loop (xs, m) = (xs, 1)
    while m < n do
      let half = n / 2
      let step i =
        let j = i / (2 * m)
        let k = i % m
        let a = xs[j * m + k]
        let b = mul (root sign k (2 * m)) xs[j * m + k + half]
        in if i % (2 * m) < m then add a b else sub a b
      in (tabulate n step, 2 * m)
  in xs

def pairs [n] (re: [n]f64) (im: [n]f64) : [n]complex = map2 (\re im -> {re, im}) re im

-- ==
-- entry: forward
-- input { [1.0, 0.0, 0.0, 0.0] [0.0, 0.0, 0.0, 0.0] }
-- output { [1.0, 1.0, 1.0, 1.0] [0.0, 0.0, 0.0, 0.0] }
-- input { [1.0, 2.0, 3.0, 4.0] [0.0, 0.0, 0.0, 0.0] }
-- output { [10.0, -2.0, -2.0, -2.0] [0.0, 2.0, 0.0, -2.0] }
-- input { [5.0] [-1.0] } output { [5.0] [-1.0] }
-- input { [1.0, 2.0, 3.0] [0.0, 0.0, 0.0] } error: n & \(n - 1\)
entry forward [n] (re: [n]f64) (im: [n]f64) : ([n]f64, [n]f64) =
  let xs = assert (n & (n - 1) == 0) (pairs re im)
  let ys = transform (-1) xs
  in (map (.re) ys, map (.im) ys)

-- ==
-- entry: there_and_back
-- random input { [64]f64 [64]f64 } output { true }
-- input { [1.0, -2.5] [0.0, 7.0] } output { true }
entry there_and_back [n] (re: [n]f64) (im: [n]f64) : bool =
  let xs = pairs re im
  let ys = transform 1 (transform (-1) xs)
  let near a b = f64.abs (a - b) < 1e-9
  in and (map2 (\x y -> near (f64.i64 n * x.re) y.re && near (f64.i64 n * x.im) y.im) xs ys)

-- Returns a spectrum as an opaque value, which `energy` accepts.
entry spectrum [n] (xs: [n]f64) : [n]complex = transform (-1) (pairs xs (map (const 0) xs))

-- ==
-- entry: energy
-- script input { spectrum [1.0, 2.0, 3.0, 4.0] } output { 30.0 }
entry energy [n] (s: [n]complex) : f64 =
  f64.sum (map (\c -> c.re * c.re + c.im * c.im) s) / f64.i64 n

-- The sum of the absolute values in the spectrum of n numbers, a power of two.
-- ==
-- entry: sum_of_spectrum
-- input { 1i64 } output { 0.0 }
-- input { 64i64 } output { 2822.312352127977 }
-- input { 0i64 } output { 0.0 }
-- input { 6i64 } error: n & \(n - 1\)
entry sum_of_spectrum (n: i64) : f64 =
  let n = assert (n & (n - 1) == 0) n
  let start = tabulate n (\i -> {re = f64.i64 (i * i % 23), im = f64.i64 (i % 5)})
  in f64.sum (map (\c -> f64.sqrt (c.re * c.re + c.im * c.im)) (transform (-1) start))
