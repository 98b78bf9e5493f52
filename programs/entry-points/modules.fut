-- Entry points can use the result of a parametric module, and an abstract type whose definition is
-- private to its module.

module type counter = {
  type t
  val zero : t
  val add : t -> i32 -> t
  val get : t -> i32
}

module modulo
  (m: {
    val n : i32
  })
  : counter = {
  type t = i32
  def zero : t = 0
  def add (t: t) (x: i32) : t = (t + x) % m.n
  def get (t: t) : i32 = t
}

module hours = modulo {
  def n : i32 = 24
}

module minutes = modulo {
  def n : i32 = 60
}

type hour = hours.t

entry midnight : hour = hours.zero

entry later (t: hour) (h: i32) : hour = hours.add t h

-- ==
-- entry: hour
-- script input { later (later midnight 20) 9 } output { 5 }
-- script input { later midnight -1 } output { 23 }
entry hour (t: hour) : i32 = hours.get t

-- ==
-- entry: minute
-- input { [50, 20, -5] } output { 5 }
-- input { empty([0]i32) } output { 0 }
entry minute (xs: []i32) : i32 = minutes.get (loop t = minutes.zero for x in xs do minutes.add t x)
