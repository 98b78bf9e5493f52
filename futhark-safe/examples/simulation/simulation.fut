-- Two chemicals that react and diffuse, by Gray and Scott: patterns grow as on a coral.

-- | The concentrations of both chemicals, and the number of steps so far.
type state [n] [m] = {cells: [n][m](f32, f32), steps: i64}

-- | Starts with the second chemical in a few squares.
entry start (n: i64) (m: i64) : state [n] [m] =
  let inside (i: i64) (j: i64) = (i * 7 / n * 5 + j * 7 / m * 3) % 11 == 4
  in {cells = tabulate_2d n m (\i j -> if inside i j then (0.5, 0.25) else (1, 0)), steps = 0}

-- The rates at which the first chemical is added and the second one removed.
def feed : f32 = 0.0545
def kill : f32 = 0.062

def one_step [n] [m] (cells: [n][m](f32, f32)) : *[n][m](f32, f32) =
  let add (a, b) (c, d) : (f32, f32) = (a + c, b + d)
  let scale (k: f32) (a, b) : (f32, f32) = (k * a, k * b)
  in tabulate_2d n m (\i j ->
       -- The edges are connected: the plane is a torus.
       let (up, down) = ((i + n - 1) % n, (i + 1) % n)
       let (left, right) = ((j + m - 1) % m, (j + 1) % m)
       let sides = cells[up, j] `add` cells[down, j] `add` cells[i, left] `add` cells[i, right]
       let corners = cells[up, left] `add` cells[up, right] `add` cells[down, left] `add` cells[down, right]
       let (u, v) = cells[i, j]
       let (du, dv) = scale 0.2 sides `add` scale 0.05 corners `add` (-u, -v)
       let reaction = u * v * v
       in (u + du - reaction + feed * (1 - u), v + 0.5 * dv + reaction - (feed + kill) * v))

-- | Computes `k` more steps.
entry advance [n] [m] (s: *state [n] [m]) (k: i64) : *state [n] [m] =
  {cells = loop cells = s.cells for _i < k do one_step cells, steps = s.steps + k}

-- | The second chemical in shades of grey.
entry picture [n] [m] (s: state [n] [m]) : [n][m]u8 =
  map (map (\(_, v) -> u8.f32 (255 * f32.min 1 (f32.max 0 (2.5 * v))))) s.cells
