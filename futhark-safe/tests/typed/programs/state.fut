-- A state that a program keeps across calls, and calls that consume it.

type state [n] = {pos: [n]f64, vel: [n]f64, steps: i64}

entry start [n] (pos: [n]f64) (vel: [n]f64) : state [n] =
  {pos = copy pos, vel = copy vel, steps = 0}

entry step [n] (s: *state [n]) (dt: f64) : *state [n] =
  {pos = map2 (\p v -> p + v * dt) s.pos s.vel, vel = s.vel, steps = s.steps + 1}

-- Changes one position in place.
entry place [n] (s: *state [n]) (i: i64) (p: f64) : *state [n] =
  s with pos = (s.pos with [i] = p)

-- The other array must have the size of the state.
entry push [n] (s: *state [n]) (by: [n]f64) : *state [n] =
  {pos = s.pos, vel = map2 (+) s.vel by, steps = s.steps}

-- Consumes two values.
entry exchange [n] (a: *[n]f64) (b: *[n]f64) : (*[n]f64, *[n]f64) =
  (b with [0] = 1, a with [0] = 2)

entry bump [n] (xs: *[n]f64) (i: i64) : *[n]f64 =
  let x = xs[i]
  in xs with [i] = x + 1
