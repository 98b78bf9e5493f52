-- | Scalars, arrays, several results, consumption and errors, for the typed interface.

def table : [4]i32 = [10, 20, 30, 40]

-- | The sum of two numbers, which wraps.
entry add (a: i32) (b: i32) : i32 = a + b

entry mean [n] (xs: [n]f32) : f32 = f32.sum xs / f32.i64 n

entry split_at [n] (k: i64) (xs: [n]i32) : ([]i32, []i32) = (take k xs, drop k xs)

entry transpose_it [n] [m] (xs: [n][m]f64) : [m][n]f64 = transpose xs

entry increment [n] (xs: *[n]i32) : *[n]i32 = map (+ 1) xs

-- Overwrites its argument in place.
entry set_first [n] (xs: *[n]i32) (v: i32) : *[n]i32 = xs with [0] = v

entry identity [n] (xs: [n]i32) : [n]i32 = xs

entry constant : [4]i32 = table

entry element [n] (xs: [n]i32) (i: i64) : i32 = xs[i]

entry flip [n] (xs: [n]bool) : [n]bool = map (\x -> !x) xs
