-- The parts of sums within records, and of records with arrays within sums, are accessible through
-- both kinds of opaque type.

type level = #low | #high i32

type~ reading = {level: level, samples: []i16}

type~ event = #idle | #measured {id: i32, samples: []i16}

entry make_reading (l: level) (samples: []i16) : reading = {level = l, samples}

entry high (x: i32) : level = #high x

entry low : level = #low

entry event_of (r: reading) : event =
  match r.level
  case #low -> #idle
  case #high id -> #measured {id, samples = r.samples}

entry reading_of (e: event) : reading =
  match e
  case #idle -> {level = #low, samples = []}
  case #measured m -> {level = #high m.id, samples = m.samples}

entry total (r: reading) : i32 =
  let base =
    match r.level
    case #low -> 0
    case #high x -> x
  in base + i32.sum (map i32.i16 r.samples)

-- ==
-- entry: there_and_back
-- input { 10 [1i16, 2i16, -4i16] } output { 9 0 }
-- input { -2147483648 empty([0]i16) } output { -2147483648 0 }
entry there_and_back (x: i32) (samples: []i16) : (i32, i32) =
  ( total (reading_of (event_of (make_reading (high x) samples)))
  , total (reading_of (event_of (make_reading low samples)))
  )
