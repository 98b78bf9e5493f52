-- Arrays of two types: `new`, `values`, `index` and `shape`.

entry vector (xs: []i64): i64 = length xs

entry matrix (xs: [][]f32): i64 = length xs
