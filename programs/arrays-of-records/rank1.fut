-- A vector of records can be zipped from columns of any rank, projected to them, indexed, passed
-- and returned, also if it is empty.

type particle = {mass: f32, position: (f64, f64), alive: bool}

type row = {key: i32, values: [3]f32}

type point = {x: i32, y: i32}

entry make_particles [n] (mass: [n]f32) (x: [n]f64) (y: [n]f64) : [n]particle =
  map3 (\m x y -> {mass = m, position = (x, y), alive = m > 0}) mass x y

entry same_particles (ps: []particle) : []particle = ps

entry living (ps: []particle) : []particle = filter (\p -> p.alive) ps

entry nth (ps: []particle) (i: i64) : particle = ps[i]

entry mass_of (p: particle) : f32 = p.mass

entry make_rows [n] (keys: [n]i32) (values: [n][3]f32) : [n]row =
  map2 (\key values -> {key, values}) keys values

entry reverse_rows [n] (rs: [n]row) : [n]row = reverse rs

entry points (n: i64) : []point = map (\i -> {x = i32.i64 i, y = -i32.i64 i}) (iota n)

entry swap_points (ps: []point) : []point = map (\p -> {x = p.y, y = p.x}) ps

-- ==
-- entry: masses
-- input { [1f32, -1f32, 2f32] [1f64, 2f64, 3f64] [4f64, 5f64, 6f64] }
-- output { [1f32, 2f32] [1f64, 3f64] }
-- input { [0f32] [1f64] [1f64] } output { empty([0]f32) empty([0]f64) }
-- input { empty([0]f32) empty([0]f64) empty([0]f64) }
-- output { empty([0]f32) empty([0]f64) }
-- input { [1f32] [1f64, 2f64] [3f64] } error: .*
entry masses [n] (mass: [n]f32) (x: [n]f64) (y: [n]f64) : ([]f32, []f64) =
  let ps = living (same_particles (make_particles mass x y))
  in (map (.mass) ps, map (\p -> p.position.0) ps)

-- ==
-- entry: one_mass
-- input { [1f32, 2f32] 1i64 } output { 2f32 }
-- input { [1f32, 2f32] 2i64 } error: .*
-- input { empty([0]f32) 0i64 } error: .*
entry one_mass [n] (mass: [n]f32) (i: i64) : f32 =
  mass_of (nth (make_particles mass (replicate n 0) (replicate n 0)) i)

-- ==
-- entry: rows
-- input { [1, 2] [[1f32, 2f32, 3f32], [4f32, 5f32, 6f32]] }
-- output { [2, 1] [[4f32, 5f32, 6f32], [1f32, 2f32, 3f32]] }
-- input { empty([0]i32) empty([0][3]f32) } output { empty([0]i32) empty([0][3]f32) }
entry rows [n] (keys: [n]i32) (values: [n][3]f32) : ([n]i32, [n][3]f32) =
  let rs = reverse_rows (make_rows keys values)
  in (map (.key) rs, map (.values) rs)

-- ==
-- entry: swapped
-- input { 3i64 } output { [0, -1, -2] [0, 1, 2] }
-- input { 0i64 } output { empty([0]i32) empty([0]i32) }
entry swapped (n: i64) : ([]i32, []i32) =
  let ps = swap_points (points n)
  in (map (.x) ps, map (.y) ps)
