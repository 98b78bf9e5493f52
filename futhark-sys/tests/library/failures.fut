-- The entry points of programs/kills and of other programs with failures, in one program.

module argument_sizes_program = import "../../../programs/errors/argument_sizes"
module huge_scatter_program = import "../../../programs/kills/huge_scatter"
module huge_size_program = import "../../../programs/kills/huge_size"
module huge_size_2d_program = import "../../../programs/kills/huge_size_2d"
module huge_size_in_map_program = import "../../../programs/kills/huge_size_in_map"
module known_sizes_program = import "../../../programs/kills/known_sizes"
module min_by_minus_one_program = import "../../../programs/kills/min_by_minus_one"
module min_by_minus_one_in_map_program = import "../../../programs/kills/min_by_minus_one_in_map"
module negative_size_program = import "../../../programs/kills/negative_size"
module negative_size_in_map_program = import "../../../programs/kills/negative_size_in_map"
module negative_sizes_program = import "../../../programs/kills/negative_sizes"
module negative_units_program = import "../../../programs/kills/negative_units"
module out_of_memory_program = import "../../../programs/kills/out_of_memory"
module negative_start_program = import "../../../programs/kills/negative_start"
module out_of_memory_in_map_program = import "../../../programs/kills/out_of_memory_in_map"
module parallel_program = import "../../../programs/errors/parallel"
module rotated_slice_program = import "../../../programs/kills/rotated_slice"
module sizes_in_function_program = import "../../../programs/kills/sizes_in_function"
module wrapping_size_program = import "../../../programs/kills/wrapping_size"

entry huge_scatter [k] (n: i64) (is: [k]i64) (vs: [k]i32) : i32 = huge_scatter_program.write_at n is vs
entry huge_size (n: i64) (x: i32) : []i32 = huge_size_program.fill n x
entry huge_size_2d (n: i64) (m: i64) : [n][m]i64 = huge_size_2d_program.products n m
entry huge_size_in_map (n: i64) (bad: i64) (size: i64) : i64 = huge_size_in_map_program.one_bad n bad size
entry rest_of_three (x: i64) : []i64 = known_sizes_program.rest_of_three x
entry rest_of_five (x: i64) : []i64 = known_sizes_program.rest_of_five x
entry kept_of_few (x: i64) : i64 = known_sizes_program.kept x
entry divide (x: i64) (y: i64) : i64 = min_by_minus_one_program.divide x y
entry divide_down (x: i32) (y: i32) : i32 = min_by_minus_one_program.divide_down x y
entry remainder_down (x: i32) (y: i32) : i32 = min_by_minus_one_program.remainder x y
entry min_by_minus_one_in_map (n: i64) (xs: [2]i64) (ys: [2]i64) (bad: i64) : i64 =
  min_by_minus_one_in_map_program.quotients n xs ys bad
entry negative_size (n: i64) (x: i32) : []i32 = negative_size_program.fill n x
entry negative_size_in_map (n: i64) (bad: i64) (size: i64) : i64 =
  negative_size_in_map_program.one_bad n bad size
entry make (n: i64) (m: i64) : [][]i32 = negative_sizes_program.make n m
entry used (n: i64) (m: i64) : i32 = negative_sizes_program.used n m
entry joined (n: i64) (m: i64) : []i32 = negative_sizes_program.joined n m
entry negative_start (i: i64) (x: i64) : i64 = negative_start_program.at i x
entry negative_units (n: i64) : [][]i32 = negative_units_program.squared n
entry out_of_memory (n: i64) (x: i64) : []i64 = out_of_memory_program.fill n x
entry out_of_memory_in_map (n: i64) (bad: i64) (size: i64) : i64 =
  out_of_memory_in_map_program.one_bad n bad size
entry rotated_slice (xs: []i64) (k: i64) : []i64 = rotated_slice_program.rotated xs k
entry sizes_in_function (n: i64) (bad: i64) (size: i64) : i64 =
  sizes_in_function_program.one_bad n bad size
entry at_index [k] (xs: [k]i32) (n: i64) (m: i64) (i: i64) (j: i64) : i32 = wrapping_size_program.at xs n m i j
entry backwards (xs: []i32) (i: i64) (j: i64) : []i32 = wrapping_size_program.backwards xs i j

entry gather [n] (xs: []i32) (is: [n]i64) : [n]i32 = parallel_program.gather xs is
entry given (n: i64) (xs: [n]i32) : [n]i32 = argument_sizes_program.given n xs

type~ slot = #empty | #full ([]i32)

type~ holder = {name: i32, xs: []i32}

-- These entry points overwrite the array that they consume.
entry add (xs: *[]i32) (ys: []i32) : *[]i32 =
  loop xs for i < length xs do xs with [i] = xs[i] + ys[i % length ys]

entry add_sized [n] (xs: *[n]i32) (ys: [n]i32) : *[n]i32 =
  loop xs for i < n do xs with [i] = xs[i] + ys[i]

entry add_to_holder (h: *holder) (y: i32) : *holder =
  h with xs = loop xs = h.xs for i < length h.xs do xs with [i] = xs[i] + y

entry swap (xs: *[]i32) (ys: *[]i32) : (*[]i32, *[]i32) = (ys, xs)

entry fill_slot (xs: []i32) : slot = if length xs == 0 then #empty else #full xs
