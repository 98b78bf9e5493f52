-- An array of records that is consumed. Apart from those that are not: Futhark 0.25.27 cannot
-- compile both.

type pt = {x: f64, y: f64}

-- Changes the fields of the first record in place.
entry poke (ps: *[]pt) : ([]f64, []f64) =
  unzip (map (\(p: pt) -> (p.x, p.y)) (ps with [0] = {x = 99, y = 99}))
