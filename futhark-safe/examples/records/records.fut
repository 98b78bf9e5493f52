-- Statistics of weather stations. Records and sums become Rust structs and enums.

-- | A measurement.
type reading = {station: i32, hour: f64, temperature: f64}

-- | Which measurements count.
type filter = #all | #before f64 | #between f64 f64

-- | The statistics of a station.
type summary = {count: i64, mean: f64, min: f64, max: f64}

-- | The change from the first to the last measurement of a station.
type trend = #unknown | #steady | #rising f64 | #falling f64

def accepts (f: filter) (hour: f64) : bool =
  match f
  case #all -> true
  case #before end -> hour < end
  case #between start end -> start <= hour && hour < end

-- | Selects measurements by their time.
entry select [n] (f: filter) (readings: [n]reading) : []reading =
  filter (\r -> accepts f r.hour) readings

-- | The statistics of each station.
entry summaries [n] (stations: i64) (readings: [n]reading) : [stations]summary =
  let one (r: reading) = {count = 1i64, mean = r.temperature, min = r.temperature, max = r.temperature}
  let none = {count = 0i64, mean = 0, min = f64.inf, max = -f64.inf}
  let add (a: summary) (b: summary) =
    {count = a.count + b.count, mean = a.mean + b.mean, min = f64.min a.min b.min, max = f64.max a.max b.max}
  let sums = hist add none stations (map (\r -> i64.i32 r.station) readings) (map one readings)
  in map (\(s: summary) -> s with mean = s.mean / f64.i64 s.count) sums

-- | The trend of each station.
entry trends [n] (stations: i64) (readings: [n]reading) : [stations]trend =
  let earlier (a: reading) (b: reading) = if b.hour < a.hour then b else a
  let later (a: reading) (b: reading) = if b.hour > a.hour then b else a
  let keys = map (\r -> i64.i32 r.station) readings
  let extreme (choose: reading -> reading -> reading) (hour: f64) =
    hist choose {station = -1, hour, temperature = 0} stations keys readings
  in map2 (\(first: reading) (last: reading) : trend ->
             let change = last.temperature - first.temperature
             in if first.station < 0 then #unknown
                else if change > 1 then #rising change
                else if change < -1 then #falling (-change)
                else #steady)
          (extreme earlier f64.inf)
          (extreme later (-f64.inf))
