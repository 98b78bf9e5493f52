-- Names that Rust cannot take as they are.

entry move (x: i32) : i32 = x

entry new (self: i32) : i32 = self

entry fn (type': i32) : i32 = type'

entry report (x: i32) (_y: i32) : i32 = x

entry f' (x': i32) : i32 = x' + 1

entry f_prime (x: i32) : i32 = x + 2

entry call (mut: i32) (match_: i32) : i32 = mut + match_

-- Sizes that must agree, for errors that name the parameters.
entry inner [n] (xs': [n]i32) (move: [n]i32) : i32 = i32.sum (map2 (*) xs' move)

entry pattern ((a, b): (i32, i32)) : i32 = a + b
