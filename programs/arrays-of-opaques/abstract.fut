-- Values of types that a module keeps abstract, and arrays of them, are opaque: entry points
-- return and accept them unchanged.

module type counter = {
  type t
  val start : i64 -> t
  val step : t -> t
  val get : t -> i64
}

module counter : counter = {
  type t = (i64, bool)
  def start x = (x, true)
  def step (c: t) = (c.0 + 1, !c.1)
  def get (c: t) = if c.1 then c.0 else -c.0
}

module bag
  : {
      type t [n]
      val make [n] : [n]f32 -> t [n]
      val sum [n] : t [n] -> f32
    } = {
  type t [n] = {items: [n]f32}
  def make items = {items}
  def sum [n] (b: t [n]) = f32.sum b.items
}

entry counter_start (x: i64) : counter.t = counter.start x

entry counter_step (c: counter.t) : counter.t = counter.step c

entry counter_get (c: counter.t) : i64 = counter.get c

entry counters (n: i64) : [n]counter.t = map counter.start (iota n)

entry step_all [n] (cs: [n]counter.t) : [n]counter.t = map counter.step cs

entry get_all [n] (cs: [n]counter.t) : [n]i64 = map counter.get cs

entry bag_make [n] (xs: [n]f32) : bag.t [n] = bag.make xs

entry bag_sum [n] (b: bag.t [n]) : f32 = bag.sum b

-- ==
-- entry: stepped
-- input { 5i64 } output { 5i64 -6i64 7i64 }
-- input { -9223372036854775808i64 }
-- output { -9223372036854775808i64 9223372036854775807i64 -9223372036854775806i64 }
entry stepped (x: i64) : (i64, i64, i64) =
  let c = counter_start x
  let d = counter_step c
  in (counter_get c, counter_get d, counter_get (counter_step d))

-- ==
-- entry: all_stepped
-- input { 3i64 } output { [-1i64, -2i64, -3i64] }
-- input { 0i64 } output { empty([0]i64) }
entry all_stepped (n: i64) : []i64 = get_all (step_all (counters n))

-- ==
-- entry: bagged
-- input { [1f32, 2f32] } output { 3f32 }
-- input { empty([0]f32) } output { 0f32 }
entry bagged (xs: []f32) : f32 = bag_sum (bag_make xs)
