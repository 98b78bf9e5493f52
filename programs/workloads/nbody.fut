-- Simulates bodies under gravity: an array of records is updated in many steps, as an opaque value
-- or as columns, and energy and momentum are conserved.

type vec = {x: f64, y: f64, z: f64}

type body = {mass: f64, position: vec, velocity: vec}

def vadd (a: vec) (b: vec) : vec = {x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}

def vsub (a: vec) (b: vec) : vec = {x = a.x - b.x, y = a.y - b.y, z = a.z - b.z}

def scale (k: f64) (a: vec) : vec = {x = k * a.x, y = k * a.y, z = k * a.z}

def dot (a: vec) (b: vec) : f64 = a.x * b.x + a.y * b.y + a.z * b.z

def zero : vec = {x = 0, y = 0, z = 0}

def vsum [n] (vs: [n]vec) : vec = reduce vadd zero vs

-- The softening keeps the force finite if two bodies meet.
def softening : f64 = 1e-9

def pull (on: body) (from: body) : vec =
  let d = vsub from.position on.position
  let r2 = dot d d + softening
  in scale (from.mass / (r2 * f64.sqrt r2)) d

def accelerations [n] (bodies: [n]body) : [n]vec =
  map (\b -> vsum (map (pull b) bodies)) bodies

def kick [n] (dt: f64) (bodies: [n]body) : [n]body =
  let push (b: body) a = b with velocity = vadd b.velocity (scale dt a)
  in map2 push bodies (accelerations bodies)

def drift [n] (dt: f64) (bodies: [n]body) : [n]body =
  map (\(b: body) -> b with position = vadd b.position (scale dt b.velocity)) bodies

-- Leapfrog: half a kick, a drift, half a kick.
def advance [n] (dt: f64) (bodies: [n]body) : [n]body =
  kick (dt / 2) (drift dt (kick (dt / 2) bodies))

def run [n] (bodies: [n]body) (dt: f64) (steps: i32) : [n]body =
  loop bodies for _i < steps do advance dt bodies

def total_energy [n] (bodies: [n]body) : f64 =
  let kinetic = f64.sum (map (\b -> b.mass * dot b.velocity b.velocity / 2) bodies)
  let pair (i, a: body) (j, b: body) =
    let d = vsub b.position a.position
    in if i < j then -a.mass * b.mass / f64.sqrt (dot d d + softening) else 0
  let numbered = zip (iota n) bodies
  let potential = f64.sum (map (\a -> f64.sum (map (pair a) numbered)) numbered)
  in kinetic + potential

def to_vecs [n] (xs: [n][3]f64) : [n]vec = map (\v -> {x = v[0], y = v[1], z = v[2]}) xs

def from_vecs [n] (vs: [n]vec) : [n][3]f64 = map (\(v: vec) -> [v.x, v.y, v.z]) vs

def assemble [n] (masses: [n]f64) (positions: [n][3]f64) (velocities: [n][3]f64) : [n]body =
  map3 (\mass position velocity -> {mass, position, velocity})
       masses
       (to_vecs positions)
       (to_vecs velocities)

entry bodies_of [n] (masses: [n]f64) (positions: [n][3]f64) (velocities: [n][3]f64) : [n]body =
  assemble masses positions velocities

entry step [n] (bodies: [n]body) (dt: f64) (steps: i32) : [n]body = run bodies dt steps

entry positions_of [n] (bodies: [n]body) : [n][3]f64 = from_vecs (map (.position) bodies)

entry heaviest [n] (bodies: [n]body) : body =
  reduce (\a b -> if b.mass > a.mass then b else a)
         {mass = -f64.inf, position = zero, velocity = zero}
         bodies

-- Two equal bodies that circle each other, a single body, and no bodies.
-- ==
-- entry: simulate
-- input { [1f64, 1f64] [[1f64, 0f64, 0f64], [-1f64, 0f64, 0f64]]
--         [[0f64, 0.5f64, 0f64], [0f64, -0.5f64, 0f64]] 0.01f64 100 }
-- output { [[0.877582358f64, 0.479427508f64, 0.0f64], [-0.877582358f64, -0.479427508f64, 0.0f64]]
--          [[-0.239712072f64, 0.438791226f64, 0.0f64],
--           [0.239712072f64, -0.438791226f64, 0.0f64]] }
-- input { [2f64] [[1f64, 2f64, 3f64]] [[1f64, 0f64, -1f64]] 0.5f64 4 }
-- output { [[3f64, 2f64, 1f64]] [[1f64, 0f64, -1f64]] }
-- input { empty([0]f64) empty([0][3]f64) empty([0][3]f64) 0.1f64 3 }
-- output { empty([0][3]f64) empty([0][3]f64) }
-- input { [1f64, 1f64] [[1f64, 0f64, 0f64]] [[0f64, 0.5f64, 0f64]] 0.1f64 1 } error: .*
entry simulate [n]
               (masses: [n]f64)
               (positions: [n][3]f64)
               (velocities: [n][3]f64)
               (dt: f64)
               (steps: i32) : ([n][3]f64, [n][3]f64) =
  let bodies = run (assemble masses positions velocities) dt steps
  in (from_vecs (map (.position) bodies), from_vecs (map (.velocity) bodies))

def spiral (n: i64) : [n]body =
  let place i =
    let t = 2.4 * f64.i64 i
    let r = 1 + f64.i64 i
    in { mass = 1 / r
       , position = {x = r * f64.cos t, y = r * f64.sin t, z = 0.1 * t}
       , velocity = {x = -0.3 * f64.sin t, y = 0.3 * f64.cos t, z = 0.05}
       }
  in map place (iota n)

-- Whether energy and momentum of bodies on a spiral are conserved to one part in 1000.
-- ==
-- entry: conserves
-- input { 12i64 0.001f64 50 } output { true true }
-- input { 1i64 0.1f64 3 } output { true true }
entry conserves (n: i64) (dt: f64) (steps: i32) : (bool, bool) =
  let before = spiral n
  let after = run before dt steps
  let momentum bs = vsum (map (\(b: body) -> scale b.mass b.velocity) bs)
  let lost = vsub (momentum after) (momentum before)
  let e0 = total_energy before
  let e1 = total_energy after
  in (f64.abs (e1 - e0) <= 1e-3 * f64.abs e0, dot lost lost <= 1e-12)

-- The squared distances of n bodies from the centre, after four steps from a spiral.
-- ==
-- entry: spread
-- input { 0i64 } output { 0.0 }
-- input { 1i64 } output { 1.000148 }
-- input { 12i64 } output { 679.2048895770172 }
entry spread (n: i64) : f64 =
  f64.sum (map (\b -> dot b.position b.position) (run (spiral n) 0.01 4))
