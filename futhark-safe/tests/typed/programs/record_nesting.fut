-- Arrays of records with records, tuples and f16 in them. Apart from arrays of the inner record:
-- Futhark 0.25.27 cannot compile both.

type pt = {x: f64, y: f64}

type cell = {at: pt, pair: (i32, bool), half: f16}

entry shift (cs: []cell) (dx: f64) : []cell =
  map (\(c: cell) -> c with at.x = c.at.x + dx with pair = (c.pair.0 + 1, !c.pair.1)) cs
