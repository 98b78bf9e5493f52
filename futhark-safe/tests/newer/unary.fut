-- Sums with one variant have no tag since 0.27: they have the components of their payload. The
-- payloads here are records, which unary.json declares to be sums. unary.c has the rest.

type payload = {a: i32, b: f64}
type row [n] = {xs: [n]i32}
type box = {n: i32, p: payload}
-- unary.json adds a field.
type holder = {n: i32}

entry payload (a: i32) (b: f64) : payload = {a, b}
entry of_payload (p: payload) : f64 = f64.i32 p.a + p.b
entry row [n] (xs: [n]i32) : row [n] = {xs = copy xs}
entry of_row [n] (r: row [n]) : i32 = i32.sum r.xs
entry grow [n] (r: *row [n]) : row [n] = {xs = r.xs with [0] = 9}
entry box (n: i32) : box = {n, p = {a = n, b = 0.5}}
entry of_box (b: box) : f64 = f64.i32 b.n + b.p.b
entry payloads (n: i64) : [n]payload = tabulate n (\i -> {a = i32.i64 i, b = f64.i64 i / 2})
entry of_payloads [n] (ps: [n]payload) : f64 = f64.sum (map (.b) ps)
entry holder (n: i32) : holder = {n}
entry of_holder (h: holder) : i32 = h.n
