-- Arrays of sums and of abstract values, of rank 1.

type colour = #grey | #rgb u8 u8 u8 | #named i32

module type counter = {
  type t
  val start : i64 -> t
  val get : t -> i64
}

module counter : counter = {
  type t = (i64, bool)
  def start x = (x, true)
  def get (c: t) = if c.1 then c.0 else -c.0
}

entry colours (n: i64) : []colour =
  let build i =
    if i % 3 == 0
    then #grey
    else if i % 3 == 1 then #rgb (u8.i64 i) 2 3 else #named (i32.i64 (-i))
  in map build (iota n)

entry backwards (cs: []colour) : []colour = reverse cs

entry counters (n: i64) : [n]counter.t = map counter.start (iota n)

entry get (c: counter.t) : i64 = counter.get c
