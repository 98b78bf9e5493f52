-- Computes prices of European options by the Black-Scholes formula: independent arithmetic for
-- each option, on records and on whole columns.

type option = {call: bool, strike: f64, years: f64}

type market = {spot: f64, rate: f64, volatility: f64}

type quote = {price: f64, delta: f64, vega: f64}

def pi : f64 = f64.pi

-- The density of the standard normal distribution.
def density (x: f64) : f64 = f64.exp (-x * x / 2) / f64.sqrt (2 * pi)

-- `cumulative` is its integral up to x: a continued fraction for large x, otherwise a series.
def tail (x: f64) : f64 =
  let depth = 40i64
  let fraction = loop f = x for i < depth do x + f64.i64 (depth - i) / f
  in density x / fraction

def series (x: f64) : f64 =
  let (_, sum) =
    loop (term, sum) = (x, x)
    for i < 60i64 do
      let next = term * x * x / f64.i64 (2 * i + 3)
      in (next, sum + next)
  in 0.5 + density x * sum

def cumulative (x: f64) : f64 =
  if f64.isnan x
  then f64.nan
  else if x > 3
  then 1 - tail x
  else if x < -3 then tail (-x) else series x

def value (m: market) (o: option) : quote =
  let root = m.volatility * f64.sqrt o.years
  let d1 =
    (f64.log (m.spot / o.strike)
     + (m.rate + m.volatility * m.volatility / 2) * o.years)
    / root
  let d2 = d1 - root
  let discounted = o.strike * f64.exp (-m.rate * o.years)
  let call = m.spot * cumulative d1 - discounted * cumulative d2
  in { price = if o.call then call else call - m.spot + discounted
     , delta = if o.call then cumulative d1 else cumulative d1 - 1
     , vega = m.spot * density d1 * f64.sqrt o.years
     }

entry make_market (spot: f64) (rate: f64) (volatility: f64) : market =
  {spot, rate, volatility}

entry make_options [n] (calls: [n]bool) (strikes: [n]f64) (years: [n]f64) : [n]option =
  map3 (\call strike years -> {call, strike, years}) calls strikes years

entry quotes [n] (m: market) (options: [n]option) : [n]quote = map (value m) options

entry best [n] (qs: [n]quote) : quote =
  reduce (\a b -> if b.price > a.price then b else a)
         {price = -f64.inf, delta = 0, vega = 0}
         qs

-- ==
-- entry: normal
-- input { [0f64, 1f64, -1f64, 3.5f64, -6f64, f64.inf, -f64.inf, f64.nan] }
--
-- output { [0.5f64, 0.841344746069f64, 0.158655253931f64, 0.999767370921f64,
--            9.86587645038e-10f64, 1f64, 0f64, f64.nan] }
-- input { empty([0]f64) } output { empty([0]f64) }
entry normal [n] (xs: [n]f64) : [n]f64 = map cumulative xs

-- ==
-- entry: prices
-- input { 100f64 0.05f64 0.2f64 [true, false, true, false] [100f64, 100f64, 120f64, 80f64]
--         [1f64, 1f64, 0.5f64, 2f64] }
-- output { [10.450583572f64, 5.573526022f64, 1.022615223f64, 1.507220298f64]
--          [0.636830651f64, -0.363169349f64, 0.14877059f64, -0.099587365f64]
--          [37.524034692f64, 37.524034692f64, 16.396485861f64, 24.74435792f64] }
-- input { 100f64 0.05f64 0.2f64 empty([0]bool) empty([0]f64) empty([0]f64) }
-- output { empty([0]f64) empty([0]f64) empty([0]f64) }
-- input { 100f64 0.05f64 0.2f64 [true] [100f64, 90f64] [1f64] } error: .*
entry prices [n]
             (spot: f64)
             (rate: f64)
             (volatility: f64)
             (calls: [n]bool)
             (strikes: [n]f64)
             (years: [n]f64) : ([n]f64, [n]f64, [n]f64) =
  let m = {spot, rate, volatility}
  let qs = map3 (\call strike years -> value m {call, strike, years}) calls strikes years
  in (map (.price) qs, map (.delta) qs, map (.vega) qs)

-- The difference of call and put is known without the formula. No option of a book may deviate
-- from it by more than a millionth.
-- ==
-- entry: parity_holds
-- input { 200i64 } output { true }
-- input { 0i64 } output { true }
entry parity_holds (n: i64) : bool =
  let m = {spot = 100, rate = 0.03, volatility = 0.25}
  let check i =
    let strike = 50 + f64.i64 (i % 100)
    let years = 0.1 + f64.i64 (i / 10) / 10
    let call = (value m {call = true, strike, years}).price
    let put = (value m {call = false, strike, years}).price
    let forward = m.spot - strike * f64.exp (-m.rate * years)
    in f64.abs (call - put - forward) < 1e-6 && call >= 0 && put >= -1e-9
  in all check (iota n)

-- ==
-- entry: book_value
-- input { 100i64 } output { 1693.165679518f64 }
-- input { 0i64 } output { 0f64 }
entry book_value (n: i64) : f64 =
  let m = make_market 100 0.03 0.25
  let strikes = map (\i -> 50 + f64.i64 i) (iota n)
  let calls = map (\i -> i % 2 == 0) (iota n)
  in f64.sum (map (.price) (quotes m (make_options calls strikes (replicate n 1.5))))
