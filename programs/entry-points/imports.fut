-- A program can consist of several files: entry points use a type and a function of an imported
-- file like their own.
import "lib/shapes"

entry rectangle (width: f64) (height: f64) : rectangle = {height, width}

-- ==
-- entry: size
-- script input { rectangle 2.0 1.5 } output { 3.0 }
entry size (r: rectangle) : f64 = area r

-- ==
-- entry: total
-- input { [1.0, 2.0] [3.0, 4.0] } output { 11.0 }
-- input { [1.0] [3.0, 4.0] } error: size
entry total [n] (widths: [n]f64) (heights: [n]f64) : f64 =
  f64.sum (map2 (\width height -> area {height, width}) widths heights)
