type rec = {a: i32, b: bool, c: f64}
type sum = #none | #one i32 | #two u8 rec | #many [2]i32
def digest_rec (x: rec) : i64 = i64.i32 x.a + i64.bool x.b + 3 * i64.f64 (2 * x.c)
def digest_sum (x: sum) : i64 =
  match x case #none -> 1 case #one i -> 2 + i64.i32 i case #two u r -> i64.u8 u - digest_rec r case #many s -> 3 * i64.i32 (s[0] - s[1])
def at [n] 't (z: t) (xs: [n]t) (i: i64) : t = if n == 0 then z else xs[i % n]
def put [n] 't (xs: *[n]t) (i: i64) (x: t) : *[n]t = if n == 0 then xs else xs with [i % n] = x
def dims1 [a] 't (_: [a]t) = [a]
def dims2 [a][b] 't (_: [a][b]t) = [a, b]
def dims3 [a][b][c] 't (_: [a][b][c]t) = [a, b, c]
